package kubernetes

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// fakeServer is an API server for lists and watches of two resources. It has history, as etcd has: a version before the
// oldest is gone.
type fakeServer struct {
	mu        sync.Mutex
	token     string
	version   int
	oldest    int                       // the first version that watches and pages may begin at
	objects   map[string]map[string]any // by resource, then by namespace/name
	history   []fakeEvent
	changed   chan struct{} // closed at each change
	cut       chan struct{} // closed to end all watches
	forbidden string        // a namespace that may not be read
	most      int           // objects of a page, whatever is asked for; 0 for no limit
	down      bool
	refuses   bool                // there is no connection to it
	stuck     bool                // watches end at once
	sorted    map[string][]string // keys of objects, as of the version sortedAt
	sortedAt  int
	expire    int            // watches to refuse, and as many rests of lists: their version is gone
	requests  map[string]int // by what was asked for
	resumed   []string       // the versions that watches began at
}

type fakeEvent struct {
	version        int
	resource, kind string
	object         any
}

func newFakeServer() *fakeServer {
	return &fakeServer{
		token: "t0", version: 100, objects: map[string]map[string]any{"services": {}, "endpointslices": {}},
		changed: make(chan struct{}), cut: make(chan struct{}), requests: map[string]int{},
	}
}

// do changes the server under its lock, and wakes its watches.
func (f *fakeServer) do(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	close(f.changed)
	f.changed = make(chan struct{})
}

func metadataOf(o any) map[string]any { return o.(map[string]any)["metadata"].(map[string]any) }

func keyOf(o any) string {
	m := metadataOf(o)
	return fmt.Sprint(m["namespace"], "/", m["name"])
}

// put adds or changes an object.
func (f *fakeServer) put(resource string, o map[string]any) {
	f.do(func() {
		f.version++
		metadataOf(o)["resourceVersion"] = strconv.Itoa(f.version)
		kind := "ADDED"
		if f.objects[resource][keyOf(o)] != nil {
			kind = "MODIFIED"
		}
		f.objects[resource][keyOf(o)] = o
		f.history = append(f.history, fakeEvent{f.version, resource, kind, o})
	})
}

func (f *fakeServer) remove(resource, key string) {
	f.do(func() {
		f.version++
		o := maps.Clone(f.objects[resource][key].(map[string]any))
		o["metadata"] = maps.Clone(metadataOf(o))
		metadataOf(o)["resourceVersion"] = strconv.Itoa(f.version)
		delete(f.objects[resource], key)
		f.history = append(f.history, fakeEvent{f.version, resource, "DELETED", o})
	})
}

// bookmark tells all watches the version, as the real one does about once a minute.
func (f *fakeServer) bookmark() {
	f.do(func() {
		f.version++
		for resource := range f.objects {
			f.history = append(f.history, fakeEvent{f.version, resource, "BOOKMARK",
				map[string]any{"metadata": map[string]any{"resourceVersion": strconv.Itoa(f.version), "creationTimestamp": nil}}})
		}
	})
}

// event sends a watch something else.
func (f *fakeServer) event(resource, kind string, o any) {
	f.do(func() { f.history = append(f.history, fakeEvent{f.version, resource, kind, o}) })
}

// asked returns how often something was asked for, such as a "list services".
func (f *fakeServer) asked(what string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests[what]
}

// counts describes all requests, and the versions that watches began at.
func (f *fakeServer) counts() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fmt.Sprint(f.requests, f.resumed)
}

// endWatches ends all watches, as a restart of the server does.
func (f *fakeServer) endWatches() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.cut)
	f.cut = make(chan struct{})
}

func status400(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"reason":%q,"code":%d}`+"\n", message, reason, code)
}

func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	resource, namespace := parts[len(parts)-1], ""
	if len(parts) > 2 && parts[len(parts)-3] == "namespaces" {
		namespace = parts[len(parts)-2]
	}
	query := r.URL.Query()
	kind := "list"
	switch {
	case query.Get("watch") == "true":
		kind = "watch"
	case query.Get("continue") != "":
		kind = "page"
	}
	f.requests[kind+" "+resource]++
	switch {
	case f.down:
		status400(w, 503, "ServiceUnavailable", "the server is currently unable to handle the request")
	case r.Header.Get("Authorization") != "Bearer "+f.token:
		status400(w, 401, "Unauthorized", "Unauthorized")
	case f.objects[resource] == nil:
		status400(w, 404, "NotFound", "the server could not find the requested resource")
	case namespace == f.forbidden && namespace != "":
		status400(w, 403, "Forbidden", fmt.Sprintf(`%s is forbidden: User "system:serviceaccount:mcp:drawbridge" cannot list resource %q in API group "" in the namespace %q`,
			resource, resource, namespace))
	case kind == "watch":
		f.watch(w, r, resource, namespace)
	default:
		f.list(w, query.Get("continue"), query.Get("limit"), query.Get("labelSelector"), resource, namespace)
	}
}

// list answers with a page. The rest of a list is of the version of its first page.
func (f *fakeServer) list(w http.ResponseWriter, next, limit, selector, resource, namespace string) {
	version, from := f.version, ""
	if next != "" {
		text, _ := base64.RawURLEncoding.DecodeString(next)
		if _, err := fmt.Sscan(string(text), &version, &from); err != nil || version < f.oldest || f.expire > 0 && resource == "services" {
			f.expire--
			status400(w, 410, "Expired", "The provided continue parameter is too old to display a consistent list result.")
			return
		}
	}
	most, _ := strconv.Atoi(limit)
	if f.most > 0 {
		most = min(most, f.most)
	}
	items, more := []any{}, map[string]any{"resourceVersion": strconv.Itoa(version)}
	keys := f.keys(resource)
	first, found := slices.BinarySearch(keys, from)
	if found {
		first++
	}
	for _, key := range keys[first:] {
		o := f.objects[resource][key]
		if !selected(o, selector, namespace) {
			continue
		}
		if len(items) == most {
			more["continue"] = base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %s", version, keyOf(items[most-1])))
			break
		}
		items = append(items, o)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": kindOf[resource][0] + "List", "apiVersion": kindOf[resource][1], "metadata": more, "items": items})
}

// kindOf has the kind and the version of the objects of a resource.
var kindOf = map[string][2]string{"services": {"Service", "v1"}, "endpointslices": {"EndpointSlice", "discovery.k8s.io/v1"}}

// typed returns an object with its kind, which events have and items of lists do not.
func typed(o any, resource string) any {
	object, ok := o.(map[string]any)
	if !ok || object["kind"] != nil {
		return o
	}
	object = maps.Clone(object)
	object["kind"], object["apiVersion"] = kindOf[resource][0], kindOf[resource][1]
	return object
}

// keys returns the keys of a resource in their order.
func (f *fakeServer) keys(resource string) []string {
	if f.sortedAt != f.version || len(f.sorted[resource]) != len(f.objects[resource]) {
		f.sortedAt, f.sorted = f.version, map[string][]string{}
		for name, objects := range f.objects {
			f.sorted[name] = slices.Sorted(maps.Keys(objects))
		}
	}
	return f.sorted[resource]
}

func selected(o any, selector, namespace string) bool {
	m := metadataOf(o)
	if namespace != "" && m["namespace"] != namespace {
		return false
	}
	labels, _ := m["labels"].(map[string]any)
	name, value, equals := strings.Cut(selector, "=")
	have, ok := labels[name]
	return selector == "" || ok && (!equals || have == value)
}

// watch answers with events, one a line, until the client is gone or the watches are ended. It is called with the lock.
func (f *fakeServer) watch(w http.ResponseWriter, r *http.Request, resource, namespace string) {
	query := r.URL.Query()
	f.resumed = append(f.resumed, resource+" "+query.Get("resourceVersion"))
	from, err := strconv.Atoi(query.Get("resourceVersion"))
	if err != nil || query.Get("allowWatchBookmarks") != "true" || query.Get("timeoutSeconds") == "" {
		status400(w, 400, "BadRequest", "unexpected parameters: "+r.URL.RawQuery)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	flush := func() {
		if flusher, ok := w.(http.Flusher); ok {
			flusher.Flush()
		}
	}
	flush()
	encoder := json.NewEncoder(w)
	if from < f.oldest || f.expire > 0 && resource == "services" {
		_ = encoder.Encode(map[string]any{"type": "ERROR", "object": map[string]any{
			"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure", "reason": "Expired", "code": 410,
			"message": fmt.Sprintf("too old resource version: %d (%d)", from, f.oldest),
		}})
		return
	}
	sent := 0
	for sent < len(f.history) && f.history[sent].version <= from {
		sent++
	}
	cut := f.cut
	for !f.stuck {
		for ; sent < len(f.history); sent++ {
			if e := f.history[sent]; e.resource == resource && (e.kind != "ADDED" && e.kind != "MODIFIED" || selected(e.object, query.Get("labelSelector"), namespace)) {
				f.mu.Unlock()
				_ = encoder.Encode(map[string]any{"type": e.kind, "object": typed(e.object, resource)})
				flush()
				f.mu.Lock()
			}
		}
		changed := f.changed
		f.mu.Unlock()
		select {
		case <-changed:
		case <-cut:
			f.mu.Lock()
			return
		case <-r.Context().Done():
			f.mu.Lock()
			return
		}
		f.mu.Lock()
	}
}

var errRefused = errors.New("connection refused")

// Do implements [discovery.Client] without a network, so that the server can be in a synctest bubble.
func (f *fakeServer) Do(req *http.Request) (*http.Response, error) {
	f.mu.Lock()
	refuses := f.refuses
	f.mu.Unlock()
	if refuses {
		return nil, errRefused
	}
	reader, writer := io.Pipe()
	w := &pipedResponse{PipeWriter: writer, header: http.Header{}, begun: make(chan struct{})}
	stop := context.AfterFunc(req.Context(), func() { reader.CloseWithError(req.Context().Err()) })
	go func() {
		defer stop()
		f.ServeHTTP(w, req)
		w.WriteHeader(http.StatusOK)
		_ = writer.Close()
	}()
	<-w.begun
	return &http.Response{StatusCode: w.status, Header: w.header, Body: reader, Request: req}, nil
}

type pipedResponse struct {
	*io.PipeWriter
	header http.Header
	status int
	begun  chan struct{}
}

func (w *pipedResponse) Header() http.Header { return w.header }

func (w *pipedResponse) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		close(w.begun)
	}
}

func (w *pipedResponse) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.PipeWriter.Write(p)
}
