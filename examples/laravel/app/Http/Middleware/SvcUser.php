<?php

namespace App\Http\Middleware;

use Closure;
use Illuminate\Http\Client\ConnectionException;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Http;

/** Asks svc for the signed-in user: `$request->attributes->get('user')`. With `svc:optional`, visitors may pass, too. */
class SvcUser
{
    public function handle(Request $request, Closure $next, string $visitors = 'refused')
    {
        try {
            $answer = Http::baseUrl(env('SVC_URL', 'http://127.0.0.1:8080'))
                ->withHeaders(['Cookie' => $request->header('Cookie', '')])
                ->timeout(5)->get('/auth/api/v1/user');
        } catch (ConnectionException) {
            $answer = null;
        }
        // An outage of svc is a 503: nobody is logged out by it.
        if ($answer === null || !in_array($answer->status(), [200, 401], true)) {
            abort(503, 'Try again soon.', ['Retry-After' => 5]);
        }
        $user = $answer->status() === 200 ? $answer->json() : null;
        if ($user === null && $visitors !== 'optional') {
            abort_unless($request->isMethodSafe(), 401, 'You are logged out. Log in, then send the form again.');
            return redirect('/auth/login?return_to=' . rawurlencode($request->getRequestUri()), 303);
        }
        $request->attributes->set('user', $user);
        return $next($request);
    }
}
