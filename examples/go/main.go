// Notes: a page for all, a protected page with a form, and webhooks. svc signs the users in.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type user struct{ ID, Username string }
type note struct{ Owner, Text string }

var (
	svcURL = cmp.Or(os.Getenv("SVC_URL"), "http://127.0.0.1:8080")
	svc    = &http.Client{Timeout: 5 * time.Second}
	pages  = template.Must(template.ParseFiles("pages.html"))
	lock   sync.Mutex
	notes  []note // an application has a database here

	webhook, badSecret = standardwebhooks.NewWebhook(os.Getenv("SVC_WEBHOOK_SECRET"))
)

// findUser returns the signed-in user, or nil.
func findUser(r *http.Request) (found *user, err error) {
	question, err := http.NewRequestWithContext(r.Context(), "GET", svcURL+"/auth/api/v1/user", nil)
	if err != nil {
		return nil, err
	}
	question.Header["Cookie"] = r.Header["Cookie"]
	answer, err := svc.Do(question)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK {
		err = json.NewDecoder(answer.Body).Decode(&found)
	} else if answer.StatusCode != http.StatusUnauthorized {
		err = fmt.Errorf("svc answered %s", answer.Status)
	}
	return found, err
}

// withUser passes the signed-in user on. An outage of svc is a 503: nobody is logged out by it.
func withUser(required bool, handle func(http.ResponseWriter, *http.Request, *user)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		found, err := findUser(r)
		switch {
		case err != nil:
			log.Print(err)
			w.Header().Set("Retry-After", "5")
			http.Error(w, "Try again soon.", http.StatusServiceUnavailable)
		case found != nil || !required:
			handle(w, r, found)
		case r.Method == "GET" || r.Method == "HEAD":
			http.Redirect(w, r, "/auth/login?return_to="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
		default:
			http.Error(w, "You are logged out. Log in, then send the form again.", http.StatusUnauthorized)
		}
	}
}

func page(name string) func(http.ResponseWriter, *http.Request, *user) {
	return func(w http.ResponseWriter, _ *http.Request, reader *user) {
		lock.Lock()
		shown := map[string]any{"User": reader, "Notes": slices.Clone(notes)}
		lock.Unlock()
		_ = pages.ExecuteTemplate(w, name, shown)
	}
}

func addNote(w http.ResponseWriter, r *http.Request, owner *user) {
	added := note{owner.ID, r.FormValue("text")}
	lock.Lock()
	defer lock.Unlock()
	notes = append(notes, added)
	http.Redirect(w, r, "/notes", http.StatusSeeOther)
}

func receiveEvent(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	if err != nil || webhook.Verify(body, r.Header) != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var event struct {
		Type string
		Data struct {
			UserID string `json:"user_id"`
		}
	}
	if err := json.Unmarshal(body, &event); err == nil && event.Type == "user.deleted" {
		lock.Lock()
		defer lock.Unlock()
		notes = slices.DeleteFunc(notes, func(n note) bool { return n.Owner == event.Data.UserID })
	}
	w.WriteHeader(http.StatusNoContent)
}

func handler() http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /{$}", withUser(false, page("home")))
	routes.HandleFunc("GET /notes", withUser(true, page("notes")))
	routes.HandleFunc("POST /notes", withUser(true, addNote))
	routes.HandleFunc("POST /webhooks", receiveEvent)
	// A sibling host (evil.example.com beside example.com) could send forms with the user's cookies.
	return http.NewCrossOriginProtection().Handler(routes)
}

func main() {
	if os.Getenv("SVC_WEBHOOK_SECRET") == "" || badSecret != nil {
		log.Fatal("SVC_WEBHOOK_SECRET is missing, or is not whsec_ and base64")
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+cmp.Or(os.Getenv("PORT"), "3000"), handler()))
}
