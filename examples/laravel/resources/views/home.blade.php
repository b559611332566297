<!doctype html><html lang="en"><title>Notes</title><script src="/auth/session.js" defer></script>
<h1>Notes</h1><p>There are {{ $count }} notes.
@if ($user)<p>Hello, {{ $user['username'] }}. <a href="/notes">Your notes</a>
@else<p><a href="/auth/login?return_to=%2Fnotes">Log in</a>@endif
