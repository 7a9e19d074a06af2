// What react-oidc-context has, for the test to read and press. main.tsx is what `app create --for react` prints.
import { useAuth } from "react-oidc-context";

export function App() {
  const auth = useAuth();
  if (auth.error) return <p id="fault">{String(auth.error)}</p>;
  if (auth.isLoading) return <p>…</p>;
  if (!auth.isAuthenticated)
    return (
      <button id="sign-in" type="button" onClick={() => auth.signinRedirect()}>
        Sign in
      </button>
    );
  const { profile, access_token } = auth.user;
  return (
    <>
      <output id="user">{JSON.stringify(profile)}</output>
      <output id="token">{access_token}</output>
      <button id="refresh" type="button" onClick={() => auth.signinSilent()}>
        Refresh
      </button>
      <button id="sign-out" type="button" onClick={() => auth.signoutRedirect()}>
        Sign out
      </button>
    </>
  );
}
