<!doctype html><html lang="en"><title>Notes</title><script src="/auth/session.js" defer></script>
<h1>Notes of {{ $user['username'] }}</h1>
<ul>@foreach ($notes as $note) @if ($note['owner'] === $user['id'])<li>{{ $note['text'] }}@endif @endforeach</ul>
<form method="post">@csrf<input name="text" aria-label="Note" required><button>Save</button></form>
<p><a href="/auth/logout">Log out</a>
