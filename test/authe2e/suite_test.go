package authe2e

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"

	"go.uber.org/goleak"

	"drawbridge/test/process"
)

// The folder into which make auth-e2e has installed everything; see the script run beside this file.
const clientsVariable = "AUTH_E2E_CLIENTS"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// suite is what all scenarios share.
type suite struct {
	folder    string // of the packages
	program   string // the gateway
	provider  *peer
	clients   *peer
	documents *documents
	ports     atomic.Int32 // the last one that was given away
	work      sync.Mutex   // held by who computes; all others wait for clocks
	table     table
}

// TestAuth is the whole suite: each scenario with each client at each authorization server, in a table at its end.
func TestAuth(t *testing.T) {
	folder := os.Getenv(clientsVariable)
	if folder == "" {
		t.Skipf("%s is not set; make auth-e2e installs the clients and sets it", clientsVariable)
	}
	s := &suite{folder: folder, program: process.BuildGateway(t), documents: newDocuments(t)}
	s.ports.Store(20_000 + rand.Int32N(10_000))
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, s.documents.pem, 0o600); err != nil {
		t.Fatal(err)
	}
	s.provider = s.start(t, []string{"provider.mjs"}, "NODE_EXTRA_CA_CERTS="+roots)
	s.clients = s.start(t, []string{"clients.mjs"})
	t.Cleanup(func() { s.table.print(t) })
	for _, scenario := range []struct {
		name string
		run  func(*testing.T, *suite)
	}{
		{"login", testLogin},
		{"expiry", testExpiry},
		{"rotation", testRotation},
		{"revocation", testRevocation},
		{"proofs", testProofs},
		{"outage", testOutage},
		{"two issuers", testTwoIssuers},
		{"inspector", testInspector},
		{"browser", testBrowser},
		{"registration", testRegistration},
		{"accounts", testAccounts},
	} {
		t.Run(scenario.name, func(t *testing.T) {
			t.Parallel()
			scenario.run(t, s)
		})
	}
}

// start starts a script with its arguments; it ends with the test.
func (s *suite) start(t *testing.T, script []string, env ...string) *peer {
	t.Helper()
	p, err := startPeer(s.folder, script, env...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		complaints, err := p.close()
		if err != nil {
			t.Error(err)
		}
		if t.Failed() && complaints != "" {
			t.Logf("%s complained:\n%.20000s", script[0], complaints)
		}
	})
	return p
}

// address returns a loopback address for a server. Its port is below those that connections get which go out: there are so
// many of them here that a port which was free a moment ago would often be taken.
func (s *suite) address(t *testing.T) string {
	t.Helper()
	for range 1000 {
		a := net.JoinHostPort("127.0.0.1", strconv.Itoa(int(s.ports.Add(1))))
		if l, err := net.Listen("tcp", a); err == nil {
			l.Close()
			return a
		}
	}
	t.Fatal("no port is free")
	return ""
}

// busy waits until nobody else computes much: a client that gets no processor for seconds gives up. The function that it
// returns lets the next one go.
func (s *suite) busy() (done func()) {
	s.work.Lock()
	return s.work.Unlock
}

// each runs a part of a scenario at a server with a client, at the same time as all others, and notes in the table what
// came of it.
func (s *suite) each(t *testing.T, scenario, server string, clients []string, f func(t *testing.T, client string)) {
	for _, client := range clients {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			s.table.note(t, scenario, server, client)
			f(t, client)
		})
	}
}

// refreshingDocument is the path of a document of a client that can keep refresh tokens.
const refreshingDocument = "/refreshing-client.json"

// documents is where clients that do not register publish what they are, over https as is demanded of them.
type documents struct {
	server *httptest.Server
	roots  *x509.CertPool
	pem    []byte
}

func newDocuments(t *testing.T) *documents {
	d := &documents{roots: x509.NewCertPool()}
	d.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		grants := `"authorization_code"`
		if r.URL.Path == refreshingDocument {
			grants += `, "refresh_token"`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"client_id": "%s%s", "client_name": "authe2e", "redirect_uris": [%q], "grant_types": [%s],
			"response_types": ["code"], "token_endpoint_auth_method": "none", "application_type": "native"}`, d.server.URL, r.URL.Path, redirect, grants)
	}))
	t.Cleanup(d.server.Close)
	d.roots.AddCert(d.server.Certificate())
	d.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: d.server.Certificate().Raw})
	return d
}

// table is what the suite prints at its end. It is safe for concurrent use.
type table struct {
	mu      sync.Mutex
	results map[[3]string]string // by scenario, server and client
}

// note enters the result of a test when it ends.
func (b *table) note(t *testing.T, scenario, server, client string) {
	t.Cleanup(func() { b.enter(scenario, server, client, !t.Failed()) })
}

// enter enters a result. What has failed once has failed.
func (b *table) enter(scenario, server, client string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.results == nil {
		b.results = make(map[[3]string]string)
	}
	k := [3]string{scenario, server, client}
	switch {
	case !ok:
		b.results[k] = "FAILED"
	case b.results[k] == "":
		b.results[k] = "ok"
	}
}

func (b *table) print(t *testing.T) {
	var rows [][2]string
	var columns []string
	for k := range b.results {
		if row := [2]string{k[0], k[1]}; !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
		if !slices.Contains(columns, k[2]) {
			columns = append(columns, k[2])
		}
	}
	slices.SortFunc(rows, func(a, b [2]string) int { return strings.Compare(a[0]+" "+a[1], b[0]+" "+b[1]) })
	slices.Sort(columns)
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "scenario\tauthorization server\t%s\n", strings.Join(columns, "\t"))
	for _, row := range rows {
		fmt.Fprintf(w, "%s\t%s", row[0], row[1])
		for _, column := range columns {
			result := b.results[[3]string{row[0], row[1], column}]
			if result == "" {
				result = "-"
			}
			fmt.Fprintf(w, "\t%s", result)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	t.Log("\n" + text.String())
}
