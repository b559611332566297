<?php

// Verifies access tokens of svc, one a line of the standard input.

use Firebase\JWT\JWK;
use Firebase\JWT\JWT;

require __DIR__ . '/vendor/autoload.php';

/** The keys of svc, kept for 60 seconds in the memory that all PHP processes share. */
function svc_keys(): array
{
    $address = (getenv('SVC_URL') ?: getenv('SVC_BASE_URL')) . '/auth/.well-known/jwks.json';
    $json = apcu_fetch('svc-keys');
    if ($json === false) {
        $json = file_get_contents($address, false, stream_context_create(['http' => ['timeout' => 5]]));
        if ($json === false) {
            throw new RuntimeException('The keys of svc cannot be fetched.'); // This is a 503.
        }
        apcu_store('svc-keys', $json, 60);
    }
    return JWK::parseKeySet(json_decode($json, true, 16, JSON_THROW_ON_ERROR), 'ES256');
}

/** The claims of a good token. Throws UnexpectedValueException for any other, which is a 401. */
function verify_access_token(string $token): stdClass
{
    $keys = svc_keys();
    $header = new stdClass();
    try {
        $claims = JWT::decode($token, $keys, $header); // the algorithm, the key, the signature, and the end
    } catch (LogicException $error) {
        throw new UnexpectedValueException($error->getMessage(), previous: $error);
    }
    if (($header->typ ?? '') !== 'at+jwt' || !isset($claims->exp, $claims->sub, $claims->sid)) {
        throw new UnexpectedValueException('This is no access token.');
    }
    if (($claims->iss ?? '') !== getenv('SVC_BASE_URL') || ($claims->aud ?? '') !== 'app') {
        throw new UnexpectedValueException('The token is for another service.');
    }
    return $claims;
}

while (($line = fgets(STDIN)) !== false) {
    try {
        $claims = verify_access_token(trim($line));
        echo "good {$claims->sub}\n";
    } catch (UnexpectedValueException $error) {
        echo 'refused ', $error->getMessage(), "\n";
    }
}
