// Auth.js ends its own session alone: this leads through Signet's, with the ID token as its hint.
import { NextResponse } from "next/server";
import { getToken } from "next-auth/jwt";
import { signOut } from "../../auth";

export async function POST(req) {
  const { AUTH_SIGNET_ISSUER, AUTH_SECRET, AUTH_URL } = process.env;
  const token = await getToken({ req, secret: AUTH_SECRET, secureCookie: AUTH_URL.startsWith("https:") });
  await signOut({ redirect: false });
  const query = new URLSearchParams({ post_logout_redirect_uri: `${AUTH_URL}/` });
  if (token) query.set("id_token_hint", token.idToken);
  return NextResponse.redirect(`${AUTH_SIGNET_ISSUER}/end_session?${query}`, 303);
}
