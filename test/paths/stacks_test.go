package paths

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"drawbridge/test/process"
)

// A stack is a server with a route /v1/orders/ and the id, a route for all paths below /v1/files/, a route /v1/search, and routes that nobody
// may reach: all others, and those that end with /refund and /restore.
type stack struct{ name, address string }

// startStacks starts every server that this machine has, and names those that it does not have. test/paths/run installs them.
func startStacks(ctx context.Context, t *testing.T) (all []stack) {
	t.Helper()
	all = append(all, startGo(t)...)
	for _, s := range []struct {
		name  string
		start func(context.Context, *testing.T) []stack
	}{
		{"nginx", startNginx}, {"Apache", startApache}, {"Tomcat", startTomcat}, {"Node", startNode}, {"Python", startPython},
	} {
		started := s.start(ctx, t)
		if len(started) == 0 {
			absent(s.name)
		}
		all = append(all, started...)
	}
	return all
}

// absent tells whoever reads the output, the suite of docs/contributing/chaos.md too, what was not tried.
func absent(name string) { fmt.Printf("paths: not run: %s\n", name) }

// launch starts a server and waits until each of its addresses takes connections.
func launch(ctx context.Context, t *testing.T, addresses []string, name string, args ...string) {
	t.Helper()
	c, err := process.StartPiped(ctx, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop() }) // some of them end with a code of their own
	for _, address := range addresses {
		err := c.Await(ctx, func(ctx context.Context) error {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
			if err == nil {
				conn.Close()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// setUp copies a file of the folder stacks to a place, with words replaced.
func setUp(t *testing.T, from, to string, replace ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("stacks", from))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, []byte(strings.NewReplacer(replace...).Replace(string(text))), 0o755) // a script, too
	}
	if err != nil {
		t.Fatal(err)
	}
}

// shared is a folder that servers with a user of their own can read.
func shared(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil { // see above
			t.Fatal(err)
		}
	}
	return dir
}

func port(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

// program finds one in the folders of the system, too.
func program(names ...string) string {
	for _, name := range names {
		for _, dir := range []string{"", "/usr/sbin/", "/usr/bin/"} {
			if path, err := exec.LookPath(dir + name); err == nil {
				return path
			}
		}
	}
	return ""
}

func startNginx(ctx context.Context, t *testing.T) []stack {
	path := program("nginx")
	if path == "" {
		return nil
	}
	address, dir := free(t), shared(t)
	file := filepath.Join(dir, "nginx.conf")
	setUp(t, "nginx.conf", file, "PORT", port(address), "DIR", dir)
	launch(ctx, t, []string{address}, path, "-c", file, "-p", dir, "-e", "stderr")
	return []stack{{"nginx", address}}
}

func startApache(ctx context.Context, t *testing.T) []stack {
	path := program("apache2")
	if path == "" {
		return nil
	}
	address, dir := free(t), shared(t)
	user := "nobody"
	if os.Getuid() != 0 {
		user = fmt.Sprintf("#%d", os.Getuid())
	}
	group := "nogroup"
	if os.Getuid() != 0 {
		group = fmt.Sprintf("#%d", os.Getgid())
	}
	setUp(t, "apache.conf", filepath.Join(dir, "apache.conf"), "PORT", port(address), "DIR", dir, "USER", user, "GROUP", group)
	for _, name := range []string{"orders.sh", "files.sh", "search.sh", "foreign.sh"} {
		setUp(t, "cgi.sh", filepath.Join(dir, name))
	}
	launch(ctx, t, []string{address}, path, "-f", filepath.Join(dir, "apache.conf"), "-DFOREGROUND")
	return []stack{{"apache", address}}
}

func startTomcat(ctx context.Context, t *testing.T) []stack {
	const home = "/usr/share/tomcat10"
	java := program("java")
	if _, err := os.Stat(home + "/bin/bootstrap.jar"); err != nil || java == "" {
		return nil
	}
	address, base := free(t), shared(t)
	setUp(t, "tomcat/server.xml", filepath.Join(base, "conf/server.xml"), "PORT", port(address))
	setUp(t, "tomcat/web.xml", filepath.Join(base, "webapps/ROOT/WEB-INF/web.xml"))
	setUp(t, "tomcat/route.jsp", filepath.Join(base, "webapps/ROOT/WEB-INF/route.jsp"))
	for _, dir := range []string{"temp", "work", "logs"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	launch(ctx, t, []string{address}, java, "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", home+"/bin/bootstrap.jar:"+home+"/bin/tomcat-juli.jar", "-Dcatalina.home="+home,
		"-Dcatalina.base="+base, "-Djava.io.tmpdir="+base+"/temp", "org.apache.catalina.startup.Bootstrap", "start")
	return []stack{{"tomcat", address}}
}

func startNode(ctx context.Context, t *testing.T) []stack {
	node, packages := program("node"), os.Getenv("PATHS_PACKAGES")
	if node == "" || packages == "" {
		return nil
	}
	plain, app := free(t), free(t)
	setUp(t, "node.mjs", filepath.Join(packages, "node.mjs"))
	launch(ctx, t, []string{plain, app}, node, filepath.Join(packages, "node.mjs"), port(plain), port(app))
	return []stack{{"node", plain}, {"express", app}}
}

func startPython(ctx context.Context, t *testing.T) []stack {
	const python = "/usr/bin/python3" // Debian's, to which its flask belongs
	if _, err := os.Stat(python); err != nil {
		return nil
	}
	all := []stack{{"python", free(t)}, {"wsgi", free(t)}}
	if exec.CommandContext(ctx, python, "-c", "import flask").Run() == nil {
		all = append(all, stack{"flask", free(t)})
	} else {
		absent("Flask")
	}
	args, addresses := []string{"-u", "stacks/servers.py"}, []string{}
	for _, s := range all {
		args, addresses = append(args, port(s.address)), append(addresses, s.address)
	}
	launch(ctx, t, addresses, python, args...)
	return all
}

// startGo serves the same routes by net/http's own multiplexer and by chi.
func startGo(t *testing.T) []stack {
	t.Helper()
	order := func(value string, w http.ResponseWriter) {
		fmt.Fprintf(w, "route=orders\nvalue=%s\n", url.QueryEscape(value))
	}
	file := func(value string, w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(value, "/restore") {
			fmt.Fprintf(w, "route=foreign %s\n", r.URL.Path)
			return
		}
		fmt.Fprintf(w, "route=files\nvalue=%s\n", url.QueryEscape(value))
	}
	search := func(w http.ResponseWriter, r *http.Request) {
		q, err := url.ParseQuery(r.URL.RawQuery)
		value := "several"
		if err == nil && len(q) == 1 && len(q["q"]) == 1 {
			value = url.QueryEscape(q.Get("q"))
		}
		fmt.Fprintf(w, "route=search\nvalue=%s\nref=%s\n", value, r.Header.Get("X-Ref"))
	}
	foreign := func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "route=foreign %s\n", r.URL.Path) }

	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/orders/{id}", func(w http.ResponseWriter, r *http.Request) { order(r.PathValue("id"), w) })
	mux.HandleFunc("GET /v1/files/{path...}", func(w http.ResponseWriter, r *http.Request) { file(r.PathValue("path"), w, r) })
	mux.HandleFunc("GET /v1/search", search)
	mux.HandleFunc("/", foreign)

	router := chi.NewRouter()
	router.Get("/v1/orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		value := chi.URLParam(r, "id") // as it was sent where that is not what Go would send
		if r.URL.RawPath != "" {
			if decoded, err := url.PathUnescape(value); err == nil {
				value = decoded
			}
		}
		order(value, w)
	})
	router.Get("/v1/files/*", func(w http.ResponseWriter, r *http.Request) { file(strings.TrimPrefix(r.URL.Path, "/v1/files/"), w, r) })
	router.Get("/v1/search", search)
	router.NotFound(foreign)

	var all []stack
	for name, handler := range map[string]http.Handler{"servemux": mux, "chi": router} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			handler.ServeHTTP(w, r)
		}))
		t.Cleanup(s.Close)
		all = append(all, stack{name, s.Listener.Addr().String()})
	}
	return all
}
