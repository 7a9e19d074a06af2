// A sign-in with go-oidc and golang.org/x/oauth2, as `app create --for go` prints it: see client-run.ts for the lines.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

func say(what map[string]any) {
	line, err := json.Marshal(what)
	check(err)
	fmt.Println(string(line))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ctx := context.Background()
	provider, err := oidc.NewProvider(ctx, os.Getenv("SIGNET_ISSUER"))
	check(err)
	config := oauth2.Config{
		ClientID:     os.Getenv("SIGNET_CLIENT_ID"),
		ClientSecret: os.Getenv("SIGNET_CLIENT_SECRET"),
		Endpoint:     provider.Endpoint(),
		RedirectURL:  os.Getenv("SIGNET_REDIRECT_URI"),
		Scopes:       strings.Split(os.Getenv("SIGNET_SCOPE"), " "),
	}
	state, nonce, verifier := oauth2.GenerateVerifier(), oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
	say(map[string]any{"authorize": config.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier))})

	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	check(err)
	callback, err := url.Parse(strings.TrimSpace(line))
	check(err)
	if callback.Query().Get("state") != state {
		log.Fatal("state differs")
	}
	token, err := config.Exchange(ctx, callback.Query().Get("code"), oauth2.VerifierOption(verifier))
	check(err)
	raw, _ := token.Extra("id_token").(string)
	idToken, err := provider.Verifier(&oidc.Config{ClientID: config.ClientID}).Verify(ctx, raw)
	check(err)
	if idToken.Nonce != nonce {
		log.Fatal("nonce differs")
	}
	check(idToken.VerifyAccessToken(token.AccessToken))
	var user struct{ Name, Email string }
	check(idToken.Claims(&user))

	old := *token
	old.Expiry = time.Now().Add(-time.Hour)
	fresh, err := config.TokenSource(ctx, &old).Token()
	check(err)
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(fresh))
	check(err)

	var metadata struct {
		EndSession string `json:"end_session_endpoint"`
	}
	check(provider.Claims(&metadata))
	query := url.Values{"id_token_hint": {raw}, "post_logout_redirect_uri": {os.Getenv("SIGNET_POST_LOGOUT_REDIRECT_URI")}}
	say(map[string]any{
		"sub":       idToken.Subject,
		"name":      user.Name,
		"email":     user.Email,
		"refreshed": info.Subject == idToken.Subject && fresh.AccessToken != token.AccessToken,
		"signOut":   metadata.EndSession + "?" + query.Encode(),
	})
}
