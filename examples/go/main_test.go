package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
)

// askSvc sends a request for tests to svc dev.
func askSvc(t *testing.T, path, body string) (answer struct{ Cookie string }) {
	t.Helper()
	response, err := http.Post(os.Getenv("SVC_URL")+"/auth/dev/"+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		t.Fatalf("%s: %s", path, response.Status)
	}
	_ = json.NewDecoder(response.Body).Decode(&answer)
	return answer
}

// signIn returns the cookies of a user, whose account is made where there is none.
func signIn(t *testing.T, email string) string {
	return askSvc(t, "sign-in", fmt.Sprintf(`{"email":%q}`, email)).Cookie
}

func ask(cookie, method, path string, form url.Values) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Cookie", cookie)
	response := httptest.NewRecorder()
	handler().ServeHTTP(response, request)
	return response
}

// Each test begins with ada, grace and nobody else.
func begin(t *testing.T) {
	askSvc(t, "reset", "{}")
	notes = nil
}

func TestVisitorsAreSentToTheLoginPage(t *testing.T) {
	begin(t)
	if answer := ask("", "GET", "/notes", nil); answer.Header().Get("Location") != "/auth/login?return_to=%2Fnotes" {
		t.Fatal(answer.Code, answer.Header())
	}
}

func TestUsersSeeTheirOwnNotes(t *testing.T) {
	begin(t)
	ada, mary := signIn(t, "ada@example.com"), signIn(t, "mary@example.com")
	if answer := ask(ada, "POST", "/notes", url.Values{"text": {"bread"}}); answer.Code != http.StatusSeeOther {
		t.Fatal(answer.Code, answer.Body)
	}
	if page := ask(ada, "GET", "/notes", nil).Body.String(); !strings.Contains(page, "bread") {
		t.Fatal(page)
	}
	if page := ask(mary, "GET", "/notes", nil).Body.String(); !strings.Contains(page, "Notes of mary") {
		t.Fatal(page)
	}
}

func TestAnExpiredSessionIsNone(t *testing.T) {
	begin(t)
	ada := signIn(t, "ada@example.com")
	if answer := ask(ada, "GET", "/notes", nil); answer.Code != http.StatusOK {
		t.Fatal(answer.Code)
	}
	askSvc(t, "clock", `{"forward":"15m"}`)
	if answer := ask(ada, "POST", "/notes", url.Values{"text": {"late"}}); answer.Code != http.StatusUnauthorized {
		t.Fatal(answer.Code)
	}
	begin(t)
	if answer := ask(ada, "GET", "/notes", nil); answer.Code != http.StatusSeeOther {
		t.Fatal("nobody is signed in after a reset", answer.Code)
	}
}
