// A command line that people sign in to on another device. See README.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// What is kept between two runs. The ID token says who it is, the refresh token is worth new access tokens.
type session struct {
	RefreshToken string
	IDToken      string
}

type cli struct {
	config   oauth2.Config
	provider *oidc.Provider
	file     string
	revoke   string
}

func main() {
	ctx := context.Background()
	c, err := open(ctx)
	if err == nil && len(os.Args) > 1 && os.Args[1] == "logout" {
		err = c.signOut(ctx)
	} else if err == nil {
		err = c.whoAmI(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func open(ctx context.Context) (*cli, error) {
	provider, err := oidc.NewProvider(ctx, os.Getenv("SIGNET_ISSUER"))
	if err != nil {
		return nil, err
	}
	var metadata struct {
		Revoke string `json:"revocation_endpoint"`
	}
	if err := provider.Claims(&metadata); err != nil {
		return nil, err
	}
	folder := os.Getenv("CLI_FOLDER")
	if folder == "" {
		if folder, err = os.UserConfigDir(); err != nil {
			return nil, err
		}
	}
	config := oauth2.Config{
		ClientID: os.Getenv("SIGNET_CLIENT_ID"),
		Endpoint: provider.Endpoint(),
		Scopes:   []string{"openid", "profile", "email", "roles", "offline_access"},
	}
	// A program on somebody's machine keeps no secret: its ID is a parameter, and nothing stands in a header.
	config.Endpoint.AuthStyle = oauth2.AuthStyleInParams
	return &cli{config, provider, filepath.Join(folder, "signet-guide.json"), metadata.Revoke}, nil
}

func (c *cli) whoAmI(ctx context.Context) error {
	kept, err := c.read()
	if err != nil {
		return err
	}
	token, err := c.renew(ctx, kept)
	if err != nil {
		return err
	}
	if token == nil {
		if token, err = c.signIn(ctx); err != nil {
			return err
		}
	}
	if raw, isText := token.Extra("id_token").(string); isText {
		kept.IDToken = raw
	}
	// A refresh token is used once: the next one is kept before anything else is done.
	kept.RefreshToken = token.RefreshToken
	if err := c.write(kept); err != nil {
		return err
	}
	return c.print(ctx, kept.IDToken, token.AccessToken)
}

// Nothing where nobody has signed in, or that sign-in has ended.
func (c *cli) renew(ctx context.Context, kept session) (*oauth2.Token, error) {
	if kept.RefreshToken == "" {
		return nil, nil
	}
	old := &oauth2.Token{RefreshToken: kept.RefreshToken, Expiry: time.Now().Add(-time.Hour)}
	token, err := c.config.TokenSource(ctx, old).Token()
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.ErrorCode == "invalid_grant" {
		return nil, nil
	}
	return token, err
}

func (c *cli) signIn(ctx context.Context) (*oauth2.Token, error) {
	code, err := c.config.DeviceAuth(ctx)
	if err != nil {
		return nil, err
	}
	fmt.Printf("Open %s and compare the code: %s\n", code.VerificationURIComplete, code.UserCode)
	return c.config.DeviceAccessToken(ctx, code)
}

func (c *cli) print(ctx context.Context, idToken string, accessToken string) error {
	// It says who signed in, perhaps days ago: that it has expired as a proof of the sign-in is no fault then.
	verifier := c.provider.Verifier(&oidc.Config{ClientID: c.config.ClientID, SkipExpiryCheck: true})
	verified, err := verifier.Verify(ctx, idToken)
	if err != nil {
		return err
	}
	var claims struct {
		Name  string
		Email string
		Roles []string
	}
	if err := verified.Claims(&claims); err != nil {
		return err
	}
	fmt.Println("name:", claims.Name)
	fmt.Println("email:", claims.Email)
	fmt.Println("roles:", strings.Join(claims.Roles, ", "))
	fmt.Println("org:", verified.Issuer[strings.LastIndex(verified.Issuer, "/")+1:])
	fmt.Println("token:", accessToken[len(accessToken)-8:])
	return nil
}

// Revokes the refresh token, and with it the access tokens of this sign-in (RFC 7009). The browser's session stays.
func (c *cli) signOut(ctx context.Context) error {
	kept, err := c.read()
	if err != nil || kept.RefreshToken == "" {
		return err
	}
	form := url.Values{"client_id": {c.config.ClientID}, "token": {kept.RefreshToken}}
	answer, err := http.PostForm(c.revoke, form)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("not signed out: %s", answer.Status)
	}
	return os.Remove(c.file)
}

func (c *cli) read() (session, error) {
	var kept session
	text, err := os.ReadFile(c.file)
	if errors.Is(err, os.ErrNotExist) {
		return kept, nil
	}
	if err != nil {
		return kept, err
	}
	return kept, json.Unmarshal(text, &kept)
}

// For this user alone, and never half of it.
func (c *cli) write(kept session) error {
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(c.file+".new", c.file)
}
