package fetch

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// withCredential is the client of a document: each of its requests carries the credential.
type withCredential struct{ next http.RoundTripper }

func (c withCredential) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "secret")
	return c.next.RoundTrip(r)
}

// overlayServer serves texts by path and records the requests.
type overlayServer struct {
	*httptest.Server
	mu       sync.Mutex
	texts    map[string]string
	requests []string // path, and the relevant headers
}

func newOverlayServer(t *testing.T, texts map[string]string) *overlayServer {
	s := &overlayServer{texts: texts}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests = append(s.requests, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Authorization")+" "+r.Header.Get("If-None-Match")))
		text, ok := s.texts[r.URL.Path]
		switch {
		case !ok:
			http.NotFound(w, r)
		case strings.HasPrefix(text, "http"):
			http.Redirect(w, r, text, http.StatusFound)
		case r.URL.Path == "/root" && r.Header.Get("If-None-Match") == `"1"`:
			w.WriteHeader(http.StatusNotModified)
		case strings.HasPrefix(text, "protected"):
			w.WriteHeader(http.StatusUnauthorized)
		default:
			w.Header().Set("ETag", `"1"`)
			_, _ = w.Write([]byte(text))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *overlayServer) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.requests = nil }()
	return s.requests
}

// readOverlaid reads the root document of a source.
func readOverlaid(t *testing.T, location string, o Options, previous *Stamp) (Stamp, *Copy, error) {
	t.Helper()
	s, err := New(location, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Root(t.Context(), previous); err != nil {
		return Stamp{}, nil, err
	}
	stamp := s.Stamp([]string{s.Location()})
	return stamp, s.Copy(stamp), nil
}

// TestOverlays checks that overlays are read from files, from the origin of the document with its credential, and from
// other origins without one; a document is unchanged only if they are, too.
func TestOverlays(t *testing.T) {
	own, other := newOverlayServer(t, map[string]string{"/root": "root", "/own": "own"}), newOverlayServer(t, map[string]string{"/other": "other"})
	file := write(t, t.TempDir(), "file", "file")
	o := Options{Client: &http.Client{Transport: withCredential{http.DefaultTransport}}, OverlayClient: other.Client(), Keep: true,
		Overlays: []string{own.URL + "/own", other.URL + "/other?key=hidden", file}}
	stamp, c, err := readOverlaid(t, own.URL+"/root", o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := own.asked(); !slices.Equal(got, []string{"/own secret", "/root secret"}) {
		t.Errorf("own origin: %q", got)
	}
	if got := other.asked(); !slices.Equal(got, []string{"/other"}) {
		t.Errorf("other origin: %q", got)
	}
	if len(stamp.Overlays) != 3 || !c.Is(stamp) || c.Bytes() != 16 || c.Overlays[1].Location != other.URL+"/other" {
		t.Fatalf("%+v\n%+v", stamp, c)
	}
	if _, _, err := readOverlaid(t, own.URL+"/root", o, &stamp); !errors.Is(err, ErrUnchanged) {
		t.Errorf("unchanged: %v", err)
	}
	if got := own.asked(); !slices.Equal(got, []string{"/own secret", `/root secret "1"`}) {
		t.Errorf("asked again: %q", got)
	}
	write(t, filepath.Dir(file), "file", "newer")
	newer, _, err := readOverlaid(t, own.URL+"/root", o, &stamp)
	if err != nil || newer.Digest == stamp.Digest || c.Is(newer) {
		t.Errorf("an overlay changed: %v", err)
	}
	if got := own.asked(); !slices.Equal(got, []string{"/own secret", "/root secret"}) {
		t.Errorf("the document is read again: %q", got)
	}
	s, err := FromCopy(own.URL+"/root", c, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Root(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if again := s.Stamp([]string{s.Location()}); again.Digest != stamp.Digest || string(s.Overlays()[2].Data) != "file" {
		t.Errorf("of the copy: %+v, want %+v", again, stamp)
	}
	for _, overlays := range [][]string{nil, o.Overlays[:2], {own.URL + "/own", other.URL + "/another", file}, {own.URL + "/own", own.URL + "/own", file}} {
		o.Overlays = overlays
		if _, err := FromCopy(own.URL+"/root", c, o); err == nil {
			t.Errorf("a copy with other overlays than %q is used", overlays)
		}
	}
}

// TestOverlayErrors checks that an overlay that can't be read is an error of the document, with its location.
func TestOverlayErrors(t *testing.T) {
	other := newOverlayServer(t, map[string]string{"/other": "other", "/protected": "protected", "/large": strings.Repeat("x", 3<<20)})
	own := newOverlayServer(t, map[string]string{"/root": "root", "/moved": other.URL + "/other", "/protected": "protected"})
	dir := t.TempDir()
	for location, want := range map[string]string{
		own.URL + "/none":          `fetch: the server answered "404 Not Found"`,
		own.URL + "/moved":         "fetch: it was redirected to another origin",
		own.URL + "/protected":     `fetch: the server answered "401 Unauthorized"; if the document is protected, give the API a credential`,
		other.URL + "/protected":   "fetch: the server refuses it to anonymous clients; the credential of the API is sent only to the origin of its document",
		other.URL + "/large":       "fetch: is larger than 2 MiB; the limit is there to protect the gateway",
		filepath.Join(dir, "none"): "no such file or directory",
		dir:                        "is not a regular file",
		strings.Replace(own.URL, "//", "//me@", 1):   "the location is no URL without user info",
		strings.Replace(other.URL, "http", "ftp", 1): `fetch: unsupported protocol scheme "ftp"`,
		strings.Replace(own.URL, "http", "x\x00", 1): "the location is no URL without user info",
	} {
		o := Options{Client: own.Client(), OverlayClient: other.Client(), Overlays: []string{location}, MaxOverlay: 2 << 20}
		_, _, err := readOverlaid(t, own.URL+"/root", o, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "overlay ") || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("%q: got  %v\nwant %s", location, err, want)
		}
	}
	o := Options{Client: own.Client(), Overlays: []string{other.URL + "/other"}}
	if _, _, err := readOverlaid(t, own.URL+"/root", o, nil); err == nil || !strings.HasSuffix(err.Error(), "overlays by URL are not allowed here") {
		t.Error(err)
	}
}
