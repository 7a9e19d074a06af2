// Verifies tokens signed with ML-DSA by a JWKS (RFC 9964), with Cloudflare's CIRCL: nothing here is Signet's or OpenSSL's.
//
//	go run . JWKS_URI < {"access_token": "…", "id_token": "…"}
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/cloudflare/circl/sign"
	"github.com/cloudflare/circl/sign/mldsa/mldsa44"
	"github.com/cloudflare/circl/sign/mldsa/mldsa65"
	"github.com/cloudflare/circl/sign/mldsa/mldsa87"
	"github.com/cloudflare/circl/xof"
)

var schemes = map[string]sign.Scheme{
	"ML-DSA-44": mldsa44.Scheme(),
	"ML-DSA-65": mldsa65.Scheme(),
	"ML-DSA-87": mldsa87.Scheme(),
}

type key struct {
	Kty, Kid, Use, Alg, Pub, Priv string
}

func main() {
	keys, err := fetchKeys(os.Args[1])
	check(err)
	var tokens map[string]string
	check(json.NewDecoder(os.Stdin).Decode(&tokens))
	for _, name := range []string{"access_token", "id_token"} {
		if tokens[name] == "" {
			continue
		}
		alg, claims, err := verify(tokens[name], keys)
		check(err)
		if expected, ok := claims["at_hash"]; ok && expected != atHash(tokens["access_token"]) {
			check(errors.New("at_hash is another token's"))
		}
		fmt.Printf("%s %s %s\n", name, alg, claims["iss"])
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Every key of ML-DSA must be named by its thumbprint (RFC 9964 §6), and without its seed.
func fetchKeys(uri string) (map[string]key, error) {
	response, err := http.Get(uri)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var jwks struct{ Keys []key }
	if err := json.NewDecoder(response.Body).Decode(&jwks); err != nil {
		return nil, err
	}
	keys := map[string]key{}
	for _, one := range jwks.Keys {
		if one.Kty != "AKP" {
			continue
		}
		members := fmt.Sprintf(`{"alg":%q,"kty":"AKP","pub":%q}`, one.Alg, one.Pub)
		digest := sha256.Sum256([]byte(members))
		if one.Priv != "" || one.Use != "sig" || one.Kid != base64.RawURLEncoding.EncodeToString(digest[:]) {
			return nil, errors.New("a key is published with its seed, for another use or under another name")
		}
		keys[one.Kid] = one
	}
	return keys, nil
}

func verify(token string, keys map[string]key) (string, map[string]any, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", nil, errors.New("not a JWS")
	}
	var header struct{ Alg, Kid string }
	if err := decode(parts[0], &header); err != nil {
		return "", nil, err
	}
	found, ok := keys[header.Kid]
	scheme := schemes[header.Alg]
	if !ok || scheme == nil || found.Alg != header.Alg {
		return "", nil, errors.New("no such key")
	}
	pub, err := base64.RawURLEncoding.Strict().DecodeString(found.Pub)
	if err != nil {
		return "", nil, err
	}
	publicKey, err := scheme.UnmarshalBinaryPublicKey(pub)
	if err != nil {
		return "", nil, err
	}
	signature, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	if err != nil {
		return "", nil, err
	}
	// The context is empty (RFC 9964 §4).
	if !scheme.Verify(publicKey, []byte(parts[0]+"."+parts[1]), signature, nil) {
		return "", nil, errors.New("the signature does not verify")
	}
	claims := map[string]any{}
	return header.Alg, claims, decode(parts[1], &claims)
}

func decode(part string, value any) error {
	text, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil {
		return err
	}
	return json.NewDecoder(bytes.NewReader(text)).Decode(value)
}

// The left half of 64 bytes of SHAKE256.
func atHash(token string) string {
	hash := make([]byte, 64)
	shake := xof.SHAKE256.New()
	_, err := shake.Write([]byte(token))
	check(err)
	_, err = shake.Read(hash)
	check(err)
	return base64.RawURLEncoding.EncodeToString(hash[:32])
}
