// An API that takes Signet's access tokens. See README.md.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

type claims struct {
	Issuer  string          `json:"iss"`
	Subject string          `json:"sub"`
	Scope   string          `json:"scope"`
	Roles   []string        `json:"roles"`
	Binding json.RawMessage `json:"cnf"`
}

type api struct {
	provider *oidc.Provider
	verifier *oidc.IDTokenVerifier
}

var errNoToken = errors.New("no access token")

// Verifies signature, issuer, audience, expiry and type.
func (a api) caller(r *http.Request) (claims, string, error) {
	var found claims
	sent := r.Header.Get("Authorization")
	token := strings.TrimPrefix(sent, "Bearer ")
	if token == sent {
		return found, "", errNoToken
	}
	// An ID token is signed with the same keys; its type is another one (RFC 9068).
	if typeOf(token) != "at+jwt" {
		return found, "", errors.New("not an access token")
	}
	verified, err := a.verifier.Verify(r.Context(), token)
	if err != nil {
		return found, "", err
	}
	if err := verified.Claims(&found); err != nil {
		return found, "", err
	}
	// A token that is bound to a key is worth nothing without the proof, which this API doesn't check.
	if found.Binding != nil {
		return found, "", errors.New("tokens bound to a key are not taken here")
	}
	return found, token, nil
}

func typeOf(token string) string {
	var header struct{ Typ string }
	head, _, _ := strings.Cut(token, ".")
	if text, err := base64.RawURLEncoding.DecodeString(head); err == nil {
		_ = json.Unmarshal(text, &header)
	}
	return strings.ToLower(header.Typ)
}

type handler func(w http.ResponseWriter, r *http.Request, caller claims, token string)

func (a api) protect(handle handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		caller, token, err := a.caller(r)
		if errors.Is(err, errNoToken) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "no access token", http.StatusUnauthorized)
			return
		}
		if err != nil {
			log.Print("refused: ", err)
			refuse(w, http.StatusUnauthorized, "invalid_token", "the access token is not valid here")
			return
		}
		handle(w, r, caller, token)
	}
}

// As RFC 6750 section 3 says: clients read it.
func refuse(w http.ResponseWriter, status int, code string, text string) {
	w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer error=%q, error_description=%q", code, text))
	http.Error(w, text, status)
}

// What the application may do.
func withScope(scope string, handle handler) handler {
	return func(w http.ResponseWriter, r *http.Request, caller claims, token string) {
		if !contains(strings.Fields(caller.Scope), scope) {
			refuse(w, http.StatusForbidden, "insufficient_scope", "the access token needs the scope "+scope)
			return
		}
		handle(w, r, caller, token)
	}
}

// What the person may do.
func withRole(role string, handle handler) handler {
	return func(w http.ResponseWriter, r *http.Request, caller claims, token string) {
		if !contains(caller.Roles, role) {
			refuse(w, http.StatusForbidden, "insufficient_scope", "the user needs the role "+role)
			return
		}
		handle(w, r, caller, token)
	}
}

func contains(list []string, wanted string) bool {
	for _, one := range list {
		if one == wanted {
			return true
		}
	}
	return false
}

// Name and email are in no access token: userinfo tells them to whoever has one with the scope openid.
func (a api) me(w http.ResponseWriter, r *http.Request, caller claims, token string) {
	source := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token})
	user, err := a.provider.UserInfo(r.Context(), source)
	if err != nil {
		http.Error(w, "userinfo can't be read", http.StatusBadGateway)
		return
	}
	var told struct{ Name string }
	if err := user.Claims(&told); err != nil {
		http.Error(w, "userinfo can't be read", http.StatusBadGateway)
		return
	}
	org := caller.Issuer[strings.LastIndex(caller.Issuer, "/")+1:]
	answer(w, map[string]any{"name": told.Name, "email": user.Email, "roles": caller.Roles, "org": org})
}

func list(name string) handler {
	return func(w http.ResponseWriter, _ *http.Request, caller claims, _ string) {
		answer(w, map[string]any{name: []string{}, "of": caller.Subject})
	}
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

func main() {
	provider, err := oidc.NewProvider(context.Background(), os.Getenv("SIGNET_ISSUER"))
	if err != nil {
		log.Fatal(err)
	}
	// What it calls the client ID is the audience that it demands. Keys are fetched again for one that it does not know.
	a := api{provider, provider.Verifier(&oidc.Config{ClientID: os.Getenv("API_IDENTIFIER")})}
	http.HandleFunc("/me", a.protect(a.me))
	http.HandleFunc("/notes", a.protect(withScope("notes:read", list("notes"))))
	http.HandleFunc("/drafts", a.protect(withRole("editor", list("drafts"))))
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	log.Fatal(http.ListenAndServe("localhost:"+port, nil))
}
