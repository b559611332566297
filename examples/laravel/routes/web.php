<?php

use App\Http\Middleware\SvcUser;
use Illuminate\Foundation\Http\Middleware\ValidateCsrfToken;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Cache;
use Illuminate\Support\Facades\Route;

// An application has a database table here.
$notes = fn (): array => Cache::get('notes', []);

Route::get('/', fn (Request $request) => view('home', [
    'user' => $request->attributes->get('user'),
    'count' => count($notes()),
]))->middleware(SvcUser::class . ':optional');

Route::get('/notes', fn (Request $request) => view('notes', [
    'user' => $request->attributes->get('user'),
    'notes' => $notes(),
]))->middleware(SvcUser::class);

Route::post('/notes', function (Request $request) use ($notes) {
    $note = ['owner' => $request->attributes->get('user')['id'], 'text' => $request->string('text')->value()];
    Cache::forever('notes', [...$notes(), $note]);
    return redirect('/notes', 303);
})->middleware(SvcUser::class);

// https://www.standardwebhooks.com: HMAC-SHA256 over id, time and raw body.
Route::post('/webhooks', function (Request $request) use ($notes) {
    [$id, $time, $signatures] = array_map(fn ($name) => $request->header("webhook-$name", ''), ['id', 'timestamp', 'signature']);
    $secret = env('SVC_WEBHOOK_SECRET') ?: throw new RuntimeException('SVC_WEBHOOK_SECRET is not set.');
    $key = base64_decode(substr($secret, strlen('whsec_')));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$time.{$request->getContent()}", $key, true));
    $isGenuine = in_array(true, array_map(fn ($given) => hash_equals($expected, $given), explode(' ', $signatures)), true);
    abort_unless($isGenuine && abs(time() - (int) $time) <= 300, 401);
    $event = $request->json()->all();
    if ($event['type'] === 'user.deleted') {
        Cache::forever('notes', array_filter($notes(), fn ($note) => $note['owner'] !== $event['data']['user_id']));
    }
    return response()->noContent();
})->withoutMiddleware(ValidateCsrfToken::class);
