//! Verifies access tokens of svc, one a line of the standard input.
use jsonwebtoken::{decode, decode_header, jwk::JwkSet, Algorithm, DecodingKey, Validation};
use std::{env, error::Error, io, time::{Duration, Instant}};

#[derive(serde::Deserialize)]
struct Claims {
    sub: String,
    #[allow(dead_code)]
    sid: String,
}

struct Verifier {
    issuer: String,
    url: String,
    keys: Option<(Instant, JwkSet)>,
}

impl Verifier {
    /// The keys of svc, for 60 seconds at most: a key that was removed counts no longer.
    fn keys(&mut self) -> Result<&JwkSet, Box<dyn Error>> {
        if self.keys.as_ref().is_none_or(|(fetched, _)| fetched.elapsed() > Duration::from_secs(60)) {
            let mut answer = ureq::get(&self.url).config().timeout_global(Some(Duration::from_secs(5))).build().call()?;
            self.keys = Some((Instant::now(), answer.body_mut().read_json()?));
        }
        Ok(&self.keys.as_ref().unwrap().1)
    }

    /// The claims of a good token.
    fn verify(&mut self, token: &str) -> Result<Claims, Box<dyn Error>> {
        let header = decode_header(token)?;
        if header.typ.as_deref() != Some("at+jwt") {
            return Err("this is no access token".into());
        }
        let kid = header.kid.ok_or("the token names no key")?;
        let mut rules = Validation::new(Algorithm::ES256);
        rules.leeway = 0;
        rules.set_issuer(&[&self.issuer]);
        rules.set_audience(&["app"]);
        rules.set_required_spec_claims(&["iss", "aud", "exp", "sub"]);
        let key = DecodingKey::from_jwk(self.keys()?.find(&kid).ok_or("the key is not known")?)?;
        Ok(decode::<Claims>(token, &key, &rules)?.claims)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let issuer = env::var("SVC_BASE_URL")?;
    let svc = env::var("SVC_URL").unwrap_or(issuer.clone());
    let mut verifier = Verifier { issuer, url: format!("{svc}/auth/.well-known/jwks.json"), keys: None };
    for line in io::stdin().lines() {
        match verifier.verify(line?.trim()) {
            Ok(claims) => println!("good {}", claims.sub),
            Err(error) => println!("refused {error}"),
        }
    }
    Ok(())
}
