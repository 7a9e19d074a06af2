// go-oidc and x/oauth2 sign people in with Signet. See README.md.
package main

import (
	"context"
	"fmt"
	"html"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

type claims struct {
	Issuer string `json:"iss"`
	Name   string
	Email  string
	Roles  []string
}

// What a browser has here, by its cookie: the attempt to sign in, then the tokens.
type session struct {
	state, nonce, verifier string
	token                  *oauth2.Token
	idToken                string
	user                   claims
}

var (
	mutex    sync.Mutex
	sessions = map[string]*session{}
)

func find(r *http.Request) *session {
	mutex.Lock()
	defer mutex.Unlock()
	cookie, err := r.Cookie("session")
	if err != nil {
		return &session{}
	}
	if kept := sessions[cookie.Value]; kept != nil {
		return kept
	}
	return &session{}
}

// A new name at every step: nobody is signed in by a cookie that somebody else has set.
func keep(w http.ResponseWriter, kept *session) {
	mutex.Lock()
	defer mutex.Unlock()
	name := oauth2.GenerateVerifier()
	sessions[name] = kept
	http.SetCookie(w, &http.Cookie{Name: "session", Value: name, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	home := "http://localhost:" + port + "/"
	ctx := context.Background()
	//= The first printed paragraph: the provider and `config`.
	var metadata struct {
		EndSession string `json:"end_session_endpoint"`
	}
	if err := provider.Claims(&metadata); err != nil {
		log.Fatal(err)
	}

	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, page(find(r)))
	})
	http.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		state, nonce := oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
		//= The second printed paragraph: where the sign-in begins.
		keep(w, &session{state: state, nonce: nonce, verifier: verifier})
		http.Redirect(w, r, url, http.StatusFound)
	})
	http.HandleFunc("/auth/callback", func(w http.ResponseWriter, r *http.Request) {
		s := find(r)
		if s.state == "" || r.URL.Query().Get("state") != s.state {
			http.Error(w, "this sign-in began in another browser", http.StatusBadRequest)
			return
		}
		nonce, verifier := s.nonce, s.verifier
		//= The third printed paragraph: the tokens, and the ID token verified.
		signedIn := &session{token: token, idToken: rawIDToken}
		if err := idToken.Claims(&signedIn.user); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		keep(w, signedIn)
		http.Redirect(w, r, "/", http.StatusFound)
	})
	http.HandleFunc("/refresh", func(w http.ResponseWriter, r *http.Request) {
		s := find(r)
		if s.token == nil {
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		old := *s.token
		old.Expiry = time.Now().Add(-time.Hour)
		fresh, err := config.TokenSource(r.Context(), &old).Token()
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		s.token = fresh
		http.Redirect(w, r, "/", http.StatusFound)
	})
	http.HandleFunc("/logout", func(w http.ResponseWriter, r *http.Request) {
		s := find(r)
		keep(w, &session{})
		query := url.Values{"id_token_hint": {s.idToken}, "post_logout_redirect_uri": {home}}
		http.Redirect(w, r, metadata.EndSession+"?"+query.Encode(), http.StatusFound)
	})
	log.Fatal(http.ListenAndServe("localhost:"+port, nil))
}

func page(s *session) string {
	if s.token == nil {
		return `<p><a id="sign-in" href="/login">Sign in</a></p>`
	}
	facts := [][2]string{
		{"name", s.user.Name},
		{"email", s.user.Email},
		{"roles", strings.Join(s.user.Roles, ", ")},
		{"org", s.user.Issuer[strings.LastIndex(s.user.Issuer, "/")+1:]},
		{"token", s.token.AccessToken[len(s.token.AccessToken)-8:]},
	}
	list := ""
	for _, fact := range facts {
		list += "<dt>" + fact[0] + "</dt><dd>" + html.EscapeString(fact[1]) + "</dd>"
	}
	return "<dl>" + list + `</dl><a id="sign-out" href="/logout">Sign out</a>`
}
