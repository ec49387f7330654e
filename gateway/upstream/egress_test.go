package upstream

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// dials are the addresses to which a client would have connected. Nothing is
// dialled but what the test itself serves.
type dials struct {
	mu   sync.Mutex
	to   []string
	mine string // host:port
}

var errNotDialled = errors.New("this test dials nobody")

// watch puts itself behind the guard's own checks.
func (d *dials) watch(c *Client) {
	for _, dialer := range []*net.Dialer{&c.dialPolicy.literal, &c.dialPolicy.named, &c.dialPolicy.public} {
		checked := dialer.Control
		dialer.Control = func(network, address string, conn syscall.RawConn) error {
			if checked != nil {
				if err := checked(network, address, conn); err != nil {
					return err
				}
			}
			if address == d.mine {
				return nil
			}
			d.mu.Lock()
			d.to = append(d.to, address)
			d.mu.Unlock()
			return errNotDialled
		}
	}
}

// take returns what was dialled since the last time.
func (d *dials) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	to := d.to
	d.to = nil
	return to
}

// spellings are all ways in which the table writes an address that is not
// public, and others that libraries of C understand.
func spellings() (all []string) {
	for _, c := range addressTable() {
		if c.want != public {
			all = append(all, c.address)
		}
	}
	return append(all,
		"127.1", "127.0.1", "0x7f.0.0.1", "0x7f000001", "2130706433", "017700000001", "0177.0.0.1", "127.0.0.01", "0", "①②⑦.0.0.1", "127。0。0。1",
		"0xa9fea9fe", "2852039166", "025177524776", "0251.0376.0251.0376", "169.254.43518", "0xa9.254.0251.254", "169.16689662", "169.254.169.254.",
		"[::ffff:a9fe:a9fe]", "[0:0:0:0:0:ffff:169.254.169.254]", "[::ffff:0a00:1]", "localhost", "localhost.", "LOCALHOST", "ip6-localhost",
		"metadata", "metadata.google.internal", "metadata.google.internal.", "Metadata.Google.Internal", "metadata.goog", "instance-data", "instance-data.ec2.internal")
}

func target(spelled string) *url.URL {
	if strings.Contains(spelled, ":") {
		spelled = "[" + strings.ReplaceAll(strings.Trim(spelled, "[]"), "%", "%25") + "]"
	}
	u, err := url.Parse("http://" + spelled + "/latest/meta-data/")
	if err != nil {
		return nil
	}
	return u
}

// TestAddressTable is E1 to E3 as a whole: whoever writes an address, in a
// document, in the answers of a name server that change with each question, or in
// a redirect, nothing is dialled that the operator has not allowed.
func TestAddressTable(t *testing.T) {
	hostile := net.IPv4(169, 254, 169, 254)
	all := spellings()
	tried, dialled := map[string]int{}, 0
	expectNone := func(what, spelled string, d *dials) {
		tried[what]++
		if to := d.take(); len(to) > 0 {
			dialled += len(to)
			t.Errorf("%s: %s: dialled %v", what, spelled, to)
		}
	}
	client := func(o Options, dns *names) (*Client, *dials) {
		c, d := newClient(o), &dials{}
		d.watch(c)
		resolveBy(c, dns.resolver(t))
		return c, d
	}

	// A host of which nothing is known, whatever it resolves to.
	for _, spelled := range all {
		c, d := client(Options{}, &names{answer: func(int) net.IP { return hostile }})
		if u := target(spelled); u != nil {
			if got := outcome(c, get(t, u)); strings.HasPrefix(got, "200") {
				t.Errorf("%s: %s", spelled, got)
			}
			expectNone("stranger", spelled, d)
		}
		c.Close()
	}
	// The server of a document: it may be private, but no metadata service and not link-local.
	for _, c := range addressTable() {
		if c.want != metadata {
			continue
		}
		host := target(c.address).Hostname()
		client, d := client(Options{DocumentHosts: []string{host, strings.Split(host, "%")[0]}}, &names{answer: func(int) net.IP { return hostile }})
		outcome(client, get(t, target(c.address)))
		expectNone("server of a document", c.address, d)
		client.Close()
	}
	// A name that is public when it is looked at, and not when it is used.
	for _, inner := range []net.IP{hostile, net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1), net.ParseIP("fd00:ec2::254"), net.ParseIP("64:ff9b::a9fe:a9fe")} {
		for _, named := range []bool{false, true} {
			if named && !inner.Equal(hostile) {
				continue // what the operator names may be private
			}
			o := Options{}
			if named {
				o.NamedHosts = []string{"rebinding.example.com"}
			}
			c, d := client(o, &names{answer: func(query int) net.IP {
				if query%2 == 0 {
					return net.IPv4(93, 184, 216, 34)
				}
				return inner
			}})
			for range 20 {
				outcome(c, get(t, parse(t, "http://rebinding.example.com/")))
			}
			d.mu.Lock()
			if !slices.Contains(d.to, "93.184.216.34:80") {
				t.Error("the public address was not dialled: the test sees nothing")
			}
			d.to = slices.DeleteFunc(d.to, func(to string) bool { return to == "93.184.216.34:80" })
			d.mu.Unlock()
			expectNone("rebinding", inner.String(), d)
			c.Close()
		}
	}
	// A redirect, of a call and of a document.
	var location atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Location"] = []string{location.Load().(string)}
		w.WriteHeader(http.StatusFound)
	}))
	defer server.Close()
	c, d := client(Options{BaseURL: parse(t, server.URL)}, &names{answer: func(int) net.IP { return hostile }})
	defer c.Close()
	d.mine = server.Listener.Addr().String()
	for _, spelled := range all {
		for _, form := range []string{"http://%s/", "//%s/", "http://127.0.0.1@%s/", `http:\\%s\`} {
			host := spelled
			if strings.Contains(host, ":") {
				host = "[" + strings.Trim(host, "[]") + "]"
			}
			location.Store(fmt.Sprintf(form, host))
			if got := outcome(c, get(t, parse(t, server.URL))); !strings.HasPrefix(got, "302") {
				t.Errorf("%s: %s", host, got)
			}
			resp, err := c.Documents().Do(get(t, parse(t, server.URL)))
			if err == nil {
				resp.Body.Close()
				t.Errorf("document: %s: %d", host, resp.StatusCode)
			}
			expectNone("redirect", location.Load().(string), d)
		}
	}
	t.Logf("%d spellings of a host, %d of a document's server, %d names that change, %d redirects: %d dials",
		tried["stranger"], tried["server of a document"], tried["rebinding"], tried["redirect"], dialled)
	for what, least := range map[string]int{"stranger": 80, "server of a document": 1, "rebinding": 5, "redirect": 80} {
		if tried[what] < least {
			t.Errorf("%s: %d tried, want at least %d: the test sees nothing", what, tried[what], least)
		}
	}
}
