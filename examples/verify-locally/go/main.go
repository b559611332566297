// Verifies access tokens of svc, one a line of the standard input.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
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
		if parsed.Header["typ"] != "at+jwt" || parsed.Header["kid"] == nil || found.SessionID == "" || found.IssuedAt == nil {
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

// revocations is what has ended, read in the background: one for a process.
type revocations struct {
	sync.Mutex
	svcURL, apiKey string
	ended          map[string]time.Time // by session, until when it matters
	doubts         map[string]int64     // by user, and "" for all
	readAt         time.Time
}

// get reads JSON from svc. The status is 0 without an answer.
func (r *revocations) get(path, header, value string, into any) (int, error) {
	request, _ := http.NewRequest("GET", r.svcURL+path, nil)
	request.Header.Set(header, value)
	answer, err := (&http.Client{Timeout: 9 * time.Second}).Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return answer.StatusCode, fmt.Errorf("svc answered %d", answer.StatusCode)
	}
	return http.StatusOK, json.NewDecoder(answer.Body).Decode(into)
}

// read takes what comes after a cursor, and returns the query with the next one.
func (r *revocations) read(query string) string {
	var page struct {
		Events []struct {
			UserID     string    `json:"user_id"`
			SessionIDs []string  `json:"session_ids"`
			NotBefore  int64     `json:"not_before"`
			ExpiresAt  time.Time `json:"expires_at"`
		}
		Cursor         string `json:"next_cursor"`
		More, Complete bool
	}
	if _, err := r.get("/auth/api/v2/revocations"+query, "Authorization", "Bearer "+r.apiKey, &page); err != nil {
		log.Print("the revocation feed cannot be read: ", err)
		time.Sleep(time.Second/2 + rand.N(time.Second))
		return query
	}
	r.Lock()
	defer r.Unlock()
	if !page.Complete { // It does not go on there, and begins again.
		r.readAt = time.Time{}
		return ""
	}
	for _, event := range page.Events {
		for _, id := range event.SessionIDs {
			r.ended[id] = event.ExpiresAt
		}
		r.doubts[event.UserID] = max(r.doubts[event.UserID], event.NotBefore)
	}
	if !page.More {
		r.readAt = time.Now()
		maps.DeleteFunc(r.ended, func(_ string, until time.Time) bool { return until.Before(r.readAt) })
	}
	return "?wait=4&cursor=" + url.QueryEscape(page.Cursor)
}

var errEnded = errors.New("the session has ended")

// check returns nil if the session lives, and errEnded if not, which is a 401. Any other error is a 503: svc has to be
// asked, and cannot be.
func (r *revocations) check(token string, found *claims) error {
	r.Lock()
	_, isEnded := r.ended[found.SessionID]
	isKnown := time.Since(r.readAt) < 5*time.Second && found.IssuedAt.Unix() > max(r.doubts[found.Subject], r.doubts[""])
	r.Unlock()
	if isEnded {
		return errEnded
	}
	if isKnown {
		return nil
	}
	// The roles of the answer take the place of those in the token.
	status, err := r.get("/auth/api/v1/user", "Cookie", "svc_access="+token+"; __Host-svc_access="+token, found)
	if status == http.StatusUnauthorized {
		return errEnded
	}
	return err
}

func main() {
	baseURL, resource := os.Getenv("SVC_BASE_URL"), os.Getenv("RESOURCE")
	create, audience := newVerifier, "app"
	if resource != "" {
		create, audience = newClientVerifier, resource
	}
	svcURL := cmp.Or(os.Getenv("SVC_URL"), baseURL)
	verify, err := create(context.Background(), baseURL, audience, svcURL)
	if err != nil {
		log.Fatal(err)
	}
	var ends *revocations
	if key := os.Getenv("SVC_API_KEY"); key != "" {
		ends = &revocations{svcURL: svcURL, apiKey: key, ended: map[string]time.Time{}, doubts: map[string]int64{}}
		go func() {
			for query := ""; ; query = ends.read(query) {
			}
		}()
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		found, err := verify(lines.Text())
		verdict := "refused"
		if err == nil && ends != nil {
			if err = ends.check(lines.Text(), found); err != errEnded {
				verdict = "unavailable"
			}
		}
		if err != nil {
			fmt.Printf("%s %q\n", verdict, err)
		} else {
			fmt.Println(strings.TrimSpace("good " + found.Subject + " " + strings.Join(found.Roles, " ")))
		}
	}
}
