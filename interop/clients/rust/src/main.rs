// A sign-in with openidconnect: see client-run.ts for the lines in and out. What `app create --for rust` prints takes the places
// of the three lines that begin with `//=`.
use openidconnect::core::*;
use openidconnect::*;
use std::io::{stdin, BufRead};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let http_client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    //= client
    //= sign-in
    println!("{}", serde_json::json!({ "authorize": url.as_str() }));

    let mut line = String::new();
    stdin().lock().read_line(&mut line)?;
    let callback = reqwest::Url::parse(line.trim())?;
    let value = |name: &str| callback.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    if value("state").as_ref() != Some(state.secret()) {
        return Err("state differs".into());
    }
    let code = AuthorizationCode::new(value("code").ok_or("no code")?);
    //= callback
    let refresh_token = token.refresh_token().ok_or("no refresh token")?;
    let fresh = client.exchange_refresh_token(refresh_token)?.request_async(&http_client).await?;
    let refreshed = fresh.access_token().secret() != token.access_token().secret();

    let sign_out = reqwest::Url::parse_with_params(
        &format!("{}/end_session", std::env::var("SIGNET_ISSUER")?),
        [
            ("id_token_hint", id_token.to_string()),
            ("post_logout_redirect_uri", std::env::var("SIGNET_POST_LOGOUT_REDIRECT_URI")?),
        ],
    )?;
    let person = serde_json::json!({
        "sub": claims.subject().as_str(),
        "name": claims.name().and_then(|name| name.get(None)).map(|name| name.as_str()),
        "email": claims.email().map(|email| email.as_str()),
        "refreshed": refreshed,
        "signOut": sign_out.as_str(),
    });
    println!("{person}");
    Ok(())
}
