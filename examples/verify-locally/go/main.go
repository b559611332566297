// Verifies access tokens of svc, one a line of the standard input.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
)

type claims struct {
	jwt.RegisteredClaims
	SessionID string   `json:"sid"`
	ClientID  string   `json:"client_id"`
	Scope     string   `json:"scope"`
	Roles     []string `json:"roles"`
}

// newVerifier returns a function that gives the claims of a good token, and an error for any other.
func newVerifier(ctx context.Context, issuer, audience, svcURL string) (func(token string) (*claims, error), error) {
	keys, err := keyfunc.NewDefaultOverrideCtx(ctx, []string{svcURL + "/auth/.well-known/jwks.json"},
		keyfunc.Override{RefreshInterval: time.Minute, HTTPTimeout: 5 * time.Second, RateLimitWaitMax: time.Millisecond})
	if err != nil {
		return nil, err
	}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"ES256"}), jwt.WithIssuer(issuer),
		jwt.WithAudience(audience), jwt.WithExpirationRequired())
	return func(token string) (*claims, error) {
		found := &claims{}
		parsed, err := parser.ParseWithClaims(token, found, keys.Keyfunc)
		if err != nil {
			return nil, err
		}
		if parsed.Header["typ"] != "at+jwt" || parsed.Header["kid"] == nil || found.SessionID == "" {
			return nil, errors.New("this is no access token")
		}
		return found, nil
	}, nil
}

// newClientVerifier does the same for tokens of clients, which are for a resource such as https://example.com/mcp.
func newClientVerifier(ctx context.Context, baseURL, resource, svcURL string) (func(token string) (*claims, error), error) {
	verify, err := newVerifier(ctx, baseURL+"/auth", resource, svcURL)
	return func(token string) (*claims, error) {
		found, err := verify(token)
		if err == nil && found.ClientID == "" {
			return nil, errors.New("this is no token of a client")
		}
		return found, err
	}, err
}

func main() {
	baseURL, resource := os.Getenv("SVC_BASE_URL"), os.Getenv("RESOURCE")
	create, audience := newVerifier, "app"
	if resource != "" {
		create, audience = newClientVerifier, resource
	}
	verify, err := create(context.Background(), baseURL, audience, cmp.Or(os.Getenv("SVC_URL"), baseURL))
	if err != nil {
		log.Fatal(err)
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if found, err := verify(lines.Text()); err != nil {
			fmt.Printf("refused %q\n", err)
		} else {
			fmt.Println("good", found.Subject)
		}
	}
}
