// Reports: a second web application. svc logs its users in and out, and tells it of logouts elsewhere.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"html/template"
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

// svc tells of logouts, and not of sessions whose time has run out: those here have an end of their own.
const sessionSeconds = 12 * 3600

type session struct{ SID, ID, Name, IDToken string }

type reports struct {
	issuer, ownURL, logoutURL string
	svc                       oauth2.Config
	verifier                  *oidc.IDTokenVerifier
	sessions                  sync.Map // of session, by the cookie; an application has a database here
}

func (app *reports) setCookie(w http.ResponseWriter, name, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(app.ownURL, "https:")})
}

// cookie returns an empty text if there is none.
func cookie(r *http.Request, name string) string {
	if found, err := r.Cookie(name); err == nil {
		return found.Value
	}
	return ""
}

func (app *reports) home(w http.ResponseWriter, r *http.Request) {
	found, _ := app.sessions.Load(cookie(r, "reports"))
	_ = page.Execute(w, found)
}

func (app *reports) logIn(w http.ResponseWriter, r *http.Request) {
	state, nonce, verifier := rand.Text(), rand.Text(), oauth2.GenerateVerifier()
	app.setCookie(w, "login", state+" "+nonce+" "+verifier, 600)
	address := app.svc.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier))
	http.Redirect(w, r, address, http.StatusSeeOther)
}

func (app *reports) receiveCode(w http.ResponseWriter, r *http.Request) {
	answer, kept := r.URL.Query(), strings.Fields(cookie(r, "login"))
	// The answer of another server must not pass for one of svc (RFC 9207).
	if len(kept) != 3 || answer.Get("state") != kept[0] || answer.Get("iss") != app.issuer || !answer.Has("code") {
		http.Error(w, "You are not logged in. "+answer.Get("error_description"), http.StatusBadRequest)
		return
	}
	tokens, err := app.svc.Exchange(r.Context(), answer.Get("code"), oauth2.VerifierOption(kept[2]))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	text, _ := tokens.Extra("id_token").(string)
	var claims struct {
		SID  string `json:"sid"`
		Name string `json:"preferred_username"`
	}
	verified, err := app.verifier.Verify(r.Context(), text)
	if err != nil || verified.Nonce != kept[1] || verified.Claims(&claims) != nil {
		http.Error(w, "The ID token is not good.", http.StatusBadRequest)
		return
	}
	id := rand.Text()
	app.sessions.Store(id, session{claims.SID, verified.Subject, claims.Name, text})
	app.setCookie(w, "login", "", -1)
	app.setCookie(w, "reports", id, sessionSeconds)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (app *reports) logOut(w http.ResponseWriter, r *http.Request) {
	ended, found := app.sessions.LoadAndDelete(cookie(r, "reports"))
	if !found {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	// svc ends its own session too, and sends the browser back.
	fields := url.Values{"id_token_hint": {ended.(session).IDToken}, "post_logout_redirect_uri": {app.ownURL + "/"}}
	http.Redirect(w, r, app.logoutURL+"?"+fields.Encode(), http.StatusSeeOther)
}

func (app *reports) receiveLogout(w http.ResponseWriter, r *http.Request) {
	token, err := app.verifier.VerifyLogout(r.Context(), r.PostFormValue("logout_token"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	app.sessions.Range(func(id, each any) bool {
		if each.(session).SID == token.SessionID {
			app.sessions.Delete(id)
		}
		return true
	})
}

func main() {
	issuer := cmp.Or(os.Getenv("SVC_BASE_URL"), "http://localhost:8000") + "/auth"
	id, ownURL := os.Getenv("CLIENT_ID"), cmp.Or(os.Getenv("OWN_URL"), "http://127.0.0.1:4000")
	ctx := oidc.ClientContext(context.Background(), &http.Client{Timeout: 5 * time.Second})
	provider, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		log.Fatal(err)
	}
	var metadata struct {
		LogoutURL string `json:"end_session_endpoint"`
	}
	if err := provider.Claims(&metadata); err != nil {
		log.Fatal(err)
	}
	config := oauth2.Config{ClientID: id, ClientSecret: os.Getenv("CLIENT_SECRET"), Endpoint: provider.Endpoint(),
		RedirectURL: ownURL + "/callback", Scopes: []string{oidc.ScopeOpenID, "profile"}}
	app := &reports{issuer: issuer, ownURL: ownURL, logoutURL: metadata.LogoutURL, svc: config,
		verifier: provider.Verifier(&oidc.Config{ClientID: id})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", app.home)
	mux.HandleFunc("GET /login", app.logIn)
	mux.HandleFunc("GET /callback", app.receiveCode)
	mux.HandleFunc("POST /logout", app.logOut)
	mux.HandleFunc("POST /backchannel-logout", app.receiveLogout)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+cmp.Or(os.Getenv("PORT"), "4000"), http.NewCrossOriginProtection().Handler(mux)))
}

var page = template.Must(template.New("page").Parse(`<!doctype html><html lang="en"><title>Reports</title><h1>Reports</h1>
{{if .}}<p>Hello, {{.Name}}.<form method="post" action="/logout"><button>Log out</button></form>
{{else}}<p><a href="/login">Log in</a>{{end}}`))
