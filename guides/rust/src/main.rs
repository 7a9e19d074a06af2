// openidconnect signs people in with Signet. The paragraphs that Signet prints take the places of the three lines that begin with
// `//=`. See README.md.
use openidconnect::core::*;
use openidconnect::*;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::error::Error;
use tiny_http::{Header, Request, Response, Server};

/// What Signet says beside the standard claims.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Roles {
    #[serde(default)]
    roles: Vec<String>,
}
impl AdditionalClaims for Roles {}

struct User {
    facts: Vec<(&'static str, String)>,
    issuer: String,
    id_token: String,
    access_token: AccessToken,
    refresh_token: Option<RefreshToken>,
}

/// What a visitor's cookie stands for. A real application keeps these where they outlive the program.
enum Session {
    SigningIn { state: CsrfToken, nonce: Nonce, verifier: PkceCodeVerifier },
    SignedIn(Box<User>),
}

enum Answer {
    Page(String),
    Redirect { to: String, session: String },
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let http_client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    //= the client
    let port = std::env::var("PORT").unwrap_or("3000".to_string());
    let home = format!("http://localhost:{port}/");
    let server = Server::http(format!("127.0.0.1:{port}")).map_err(|error| error.to_string())?;
    let mut sessions: HashMap<String, Session> = HashMap::new();
    for request in server.incoming_requests() {
        let session = session_of(&request);
        let answer: Result<Answer, Box<dyn Error>> = async {
            let visited = reqwest::Url::parse(&home)?.join(request.url())?;
            Ok(match visited.path() {
                "/login" => {
                    //= the sign-in
                    let session = new_session();
                    sessions.insert(session.clone(), Session::SigningIn { state, nonce, verifier });
                    Answer::Redirect { to: url.to_string(), session }
                }
                "/auth/callback" => {
                    // Once: what was kept for the sign-in is gone after it.
                    let Some(Session::SigningIn { state, nonce, verifier }) = sessions.remove(&session) else {
                        return Err("no sign-in is under way".into());
                    };
                    let value = |name: &str| visited.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
                    if value("state").as_ref() != Some(state.secret()) {
                        return Err("the state differs".into());
                    }
                    let code = AuthorizationCode::new(value("code").ok_or("no code")?);
                    //= the callback
                    let user: UserInfoClaims<Roles, CoreGenderClaim> = client
                        .user_info(token.access_token().clone(), Some(claims.subject().clone()))?
                        .request_async(&http_client)
                        .await?;
                    let name = user.name().and_then(|name| name.get(None)).map(|name| name.to_string());
                    let issuer = claims.issuer().to_string();
                    let facts = vec![
                        ("name", name.unwrap_or_default()),
                        ("email", user.email().map(|email| email.to_string()).unwrap_or_default()),
                        ("roles", user.additional_claims().roles.join(", ")),
                        ("org", issuer.rsplit('/').next().unwrap_or_default().to_string()),
                    ];
                    let session = new_session();
                    let user = User {
                        facts,
                        issuer,
                        id_token: id_token.to_string(),
                        access_token: token.access_token().clone(),
                        refresh_token: token.refresh_token().cloned(),
                    };
                    sessions.insert(session.clone(), Session::SignedIn(Box::new(user)));
                    Answer::Redirect { to: "/".to_string(), session }
                }
                "/refresh" => {
                    let Some(Session::SignedIn(user)) = sessions.get_mut(&session) else {
                        return Err("nobody is signed in".into());
                    };
                    let before = user.refresh_token.clone().ok_or("no refresh token")?;
                    let fresh = client.exchange_refresh_token(&before)?.request_async(&http_client).await?;
                    user.access_token = fresh.access_token().clone();
                    // Each is used once: the next one takes its place.
                    user.refresh_token = fresh.refresh_token().cloned().or(Some(before));
                    Answer::Redirect { to: "/".to_string(), session: session.clone() }
                }
                "/logout" => match sessions.remove(&session) {
                    Some(Session::SignedIn(user)) => {
                        let to = reqwest::Url::parse_with_params(
                            &format!("{}/end_session", user.issuer),
                            [("id_token_hint", &user.id_token), ("post_logout_redirect_uri", &home)],
                        )?;
                        Answer::Redirect { to: to.to_string(), session: String::new() }
                    }
                    _ => Answer::Redirect { to: "/".to_string(), session: String::new() },
                },
                _ => Answer::Page(match sessions.get(&session) {
                    Some(Session::SignedIn(user)) => page(user),
                    _ => "<p><a id=\"sign-in\" href=\"/login\">Sign in</a></p>".to_string(),
                }),
            })
        }
        .await;
        respond(request, answer);
    }
    Ok(())
}

/// A name that nobody can guess.
fn new_session() -> String {
    CsrfToken::new_random().secret().clone()
}

fn session_of(request: &Request) -> String {
    let cookies = request.headers().iter().find(|header| header.field.equiv("Cookie"));
    let cookies = cookies.map(|header| header.value.as_str()).unwrap_or_default();
    cookies.split("; ").find_map(|cookie| cookie.strip_prefix("session=")).unwrap_or_default().to_string()
}

fn page(user: &User) -> String {
    let token = user.access_token.secret();
    let mut facts = user.facts.clone();
    facts.push(("token", token[token.len() - 8..].to_string()));
    let list: String = facts.iter().map(|(term, text)| format!("<dt>{term}</dt><dd>{}</dd>", escaped(text))).collect();
    format!("<dl>{list}</dl><a id=\"sign-out\" href=\"/logout\">Sign out</a>")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn respond(request: Request, answer: Result<Answer, Box<dyn Error>>) {
    let header = |name: &str, value: &str| Header::from_bytes(name, value).expect("headers are ASCII");
    let html = header("Content-Type", "text/html; charset=utf-8");
    let response = match answer {
        Ok(Answer::Page(text)) => Response::from_string(text).with_header(html),
        Ok(Answer::Redirect { to, session }) => Response::from_string("")
            .with_status_code(303)
            .with_header(header("Location", &to))
            .with_header(header("Set-Cookie", &format!("session={session}; Path=/; HttpOnly; SameSite=Lax"))),
        Err(error) => {
            eprintln!("{error:?}");
            Response::from_string("<p>That did not work. <a href=\"/login\">Sign in</a></p>").with_status_code(400).with_header(html)
        }
    };
    if let Err(error) = request.respond(response) {
        eprintln!("{error}");
    }
}
