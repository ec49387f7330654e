package clients

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// issues is a gateway with its default configuration in front of GitHub's document, and a service that creates issues. All
// clients share it.
type issues struct {
	endpoint string // of the gateway
	control  string // URL below which a client's script asks for the requests that arrived
	model    *model

	mu         sync.Mutex
	created    []issue
	unexpected []string // requests for something else, as "method path"
}

// issue is an issue as the service answers with it, with the repository in which it was created.
type issue struct {
	Repository string   `json:"-"`
	ID         int      `json:"id"`
	NodeID     string   `json:"node_id"`
	URL        string   `json:"url"`
	HTMLURL    string   `json:"html_url"`
	Number     int      `json:"number"`
	State      string   `json:"state"`
	Title      string   `json:"title"`
	User       user     `json:"user"`
	Labels     []string `json:"labels"`
	Assignees  []user   `json:"assignees"`
	Comments   int      `json:"comments"`
	CreatedAt  string   `json:"created_at"`
	UpdatedAt  string   `json:"updated_at"`
}

type user struct {
	Login string `json:"login"`
	ID    int    `json:"id"`
	Type  string `json:"type"`
}

// repository is the one in which clients create issues.
const repository = "octo/hello"

// firstNumber is the number of the first issue that is created.
const firstNumber = 1347

// newIssues starts the gateway and the service; they end with the test.
func newIssues(t *testing.T, program, document string) *issues {
	t.Helper()
	w := &issues{model: newModel(t, fileIssue)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /repos/{owner}/{repo}/issues", w.create)
	mux.HandleFunc("GET /control/issues", func(out http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(out).Encode(w.titled(r.URL.Query().Get("title")))
	})
	mux.HandleFunc("/", func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.unexpected = append(w.unexpected, r.Method+" "+r.URL.Path)
		w.mu.Unlock()
		http.NotFound(out, r)
	})
	service := httptest.NewServer(mux)
	t.Cleanup(service.Close)
	w.control = service.URL + "/control"
	listen, admin := address(t), address(t)
	config := fmt.Sprintf(`server: {listen: %q, shutdown_delay: 0s, drain_timeout: 2s}
admin: {listen: %q}
apis:
  - {spec: %q, base_url: %q}
`, listen, admin, document, service.URL)
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	startGateway(t, program, file, admin)
	w.endpoint = "http://" + listen + "/mcp"
	return w
}

// create answers the operation issues/create.
func (w *issues) create(out http.ResponseWriter, r *http.Request) {
	var body struct{ Title string }
	in := json.NewDecoder(r.Body)
	in.DisallowUnknownFields()
	if err := in.Decode(&body); err != nil || body.Title == "" {
		http.Error(out, fmt.Sprintf("title %q, %v", body.Title, err), http.StatusUnprocessableEntity)
		return
	}
	w.mu.Lock()
	number := firstNumber + len(w.created)
	name := r.PathValue("owner") + "/" + r.PathValue("repo")
	author := user{Login: "octocat", ID: 1, Type: "User"}
	created := issue{
		Repository: name, ID: number, NodeID: fmt.Sprintf("I_%d", number), URL: fmt.Sprintf("https://api.github.com/repos/%s/issues/%d", name, number),
		HTMLURL: fmt.Sprintf("https://github.com/%s/issues/%d", name, number), Number: number, State: "open", Title: body.Title,
		User: author, Labels: []string{}, Assignees: []user{}, CreatedAt: "2026-01-02T03:04:05Z", UpdatedAt: "2026-01-02T03:04:05Z",
	}
	w.created = append(w.created, created)
	w.mu.Unlock()
	out.Header().Set("Content-Type", "application/json; charset=utf-8")
	out.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(out).Encode(created)
}

// titled returns the numbers of the issues that were created with a title.
func (w *issues) titled(title string) []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	numbers := []int{}
	for _, one := range w.created {
		if one.Title == title {
			numbers = append(numbers, one.Number)
		}
	}
	return numbers
}

// check returns an error if something else than issues of the repository was asked for.
func (w *issues) check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.unexpected) > 0 {
		return fmt.Errorf("unexpected requests: %q", w.unexpected)
	}
	if i := slices.IndexFunc(w.created, func(one issue) bool { return one.Repository != repository }); i >= 0 {
		return fmt.Errorf("an issue was created in %q", w.created[i].Repository)
	}
	return nil
}
