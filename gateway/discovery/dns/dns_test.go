package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/test/registrytest"
	"drawbridge/test/timebox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// zone is a DNS server: records by their names, as "PRIORITY WEIGHT PORT TARGET". A name with "fail" is answered with a failure.
type zone struct {
	conn net.PacketConn

	mu      sync.Mutex
	records map[string][]string
	lose    int // this many of the next questions are lost
}

func newZone(t *testing.T) *zone {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	z := &zone{conn: conn}
	var server sync.WaitGroup
	server.Go(func() {
		buffer := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if answer := z.answer(buffer[:n]); answer != nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	})
	t.Cleanup(func() { conn.Close(); timebox.Done(t, server.Wait) })
	return z
}

func (z *zone) set(records map[string][]string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.records = records
}

func (z *zone) answer(question []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) != 1 {
		return nil
	}
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.lose > 0 {
		z.lose--
		return nil
	}
	records, ok := z.records[m.Questions[0].Name.String()]
	if !ok {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, record := range records {
		if record == "fail" {
			m.RCode = dnsmessage.RCodeServerFailure
			continue
		}
		var r dnsmessage.SRVResource
		var target string
		if _, err := fmt.Sscan(record, &r.Priority, &r.Weight, &r.Port, &target); err != nil {
			panic(err)
		}
		r.Target = dnsmessage.MustNewName(target)
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Class: dnsmessage.ClassINET}, Body: &r})
	}
	answer, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return answer
}

// settings reads the configuration of a provider.
func settings(t *testing.T, keys string) *config.DNSDiscovery {
	t.Helper()
	return registrytest.Settings(t, "dns: {"+keys+"}").DNS
}

// services is a report as text.
func services(targets []discovery.Target, err error) string {
	return registrytest.Report(targets, err, func(t *discovery.Target) string {
		return fmt.Sprintf("%s of %q: %s %s %s", t.Name, t.Namespace, t.Scheme, t.Instances, t.Problem)
	})
}

// Each name is a service, with the records of the lowest priority. Names without records, and those whose records say that there is
// no service, have none; a name that can't be resolved keeps what it had, and the others go on.
func TestRecords(t *testing.T) {
	z := newZone(t)
	server := z.conn.LocalAddr().String()
	p := New(settings(t, fmt.Sprintf("names: [_http._tcp.orders.shop.example.com, _https._tcp.stock.example.com, _Billing._tcp.example.com., consul.service.consul, none.example.com], server: %q", server)))
	steps := []struct {
		records map[string][]string
		want    string
	}{
		{map[string][]string{
			"_http._tcp.orders.shop.example.com.": {"10 60 8080 b.example.com.", "10 0 8081 a.example.com.", "20 5 80 spare.example.com."},
			"_https._tcp.stock.example.com.":      {"0 0 443 stock.example.com."},
			"_Billing._tcp.example.com.":          {"0 0 0 ."},
			"consul.service.consul.":              {"fail"},
		}, `orders of "shop.example.com": http [a.example.com:8081 b.example.com:8080] 
stock of "example.com": https [stock.example.com:443] 
billing of "example.com": http [] the SRV records of _Billing._tcp.example.com. say that there is no such service
none of "example.com": http [] none.example.com has no SRV records
error: lookup consul.service.consul. on ` + server + `: server misbehaving
`},
		{map[string][]string{
			"_http._tcp.orders.shop.example.com.": {"fail"},
			"_https._tcp.stock.example.com.":      {"0 0 443 bad\x1b[2Jname.", "0 0 8443 stock.example.com."},
			"consul.service.consul.":              {"1 1 8300 metadata.google.internal."},
		}, `orders of "shop.example.com": http [a.example.com:8081 b.example.com:8080] 
stock of "example.com": https [stock.example.com:8443] 
billing of "example.com": http [] _Billing._tcp.example.com. has no SRV records
consul of "service.consul": http [metadata.google.internal:8300] 
none of "example.com": http [] none.example.com has no SRV records
error: lookup _http._tcp.orders.shop.example.com. on ` + server + `: server misbehaving
lookup _https._tcp.stock.example.com. on ` + server + `: DNS response contained records which contain invalid names
`},
		{map[string][]string{
			"_http._tcp.orders.shop.example.com.": {"fail"}, "_https._tcp.stock.example.com.": {"fail"}, "_Billing._tcp.example.com.": {"fail"},
			"consul.service.consul.": {"fail"}, "none.example.com.": {"fail"},
		}, "the last"},
	}
	for i, step := range steps {
		z.set(step.records)
		if got := services(p.ask(t.Context())); got != step.want && (step.want != "the last" || !strings.HasPrefix(got, "the last\nerror: lookup _http._tcp")) {
			t.Errorf("step %d:\n%s", i, got)
		}
	}
}

// A server that is away leaves the last services in use, and the scheme of the configuration counts for every name.
func TestAway(t *testing.T) {
	z := newZone(t)
	z.set(map[string][]string{"_http._tcp.orders.example.com.": {"0 0 80 a.example.com."}})
	p := New(settings(t, fmt.Sprintf("names: [_http._tcp.orders.example.com], scheme: https, server: %q", z.conn.LocalAddr())))
	ctx, cancel := context.WithCancel(t.Context())
	p.Run(ctx, func(targets []discovery.Target, err error) {
		if got := services(targets, err); got != "orders of \"example.com\": https [a.example.com:80] \n" {
			t.Error(got)
		}
		cancel()
	})
	z.conn.Close()
	if got := services(p.ask(t.Context())); !strings.HasPrefix(got, "the last\nerror: lookup _http._tcp.orders.example.com. on ") || !strings.Contains(got, "connection refused") {
		t.Error(got)
	}
}

// A question that is lost, as when the server is started anew, is asked again soon.
func TestLost(t *testing.T) {
	z := newZone(t)
	z.set(map[string][]string{"_http._tcp.orders.example.com.": {"0 0 80 a.example.com."}})
	z.mu.Lock()
	z.lose = 1
	z.mu.Unlock()
	p := New(settings(t, fmt.Sprintf("names: [_http._tcp.orders.example.com], server: %q", z.conn.LocalAddr())))
	if got := services(p.ask(t.Context())); got != "orders of \"example.com\": http [a.example.com:80] \n" {
		t.Error(got)
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.lose != 0 {
		t.Error("no question was lost")
	}
}

// 1,000 names are asked for, a few at a time.
func TestMany(t *testing.T) {
	z := newZone(t)
	records, names := map[string][]string{}, make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("_http._tcp.s%d.example.com", i)
		records[names[i]+"."] = []string{fmt.Sprintf("0 0 80 s%d.example.com.", i)}
	}
	z.set(records)
	targets, err := New(settings(t, fmt.Sprintf("names: [%s], server: %q", strings.Join(names, ", "), z.conn.LocalAddr()))).ask(t.Context())
	if err != nil || len(targets) != len(names) {
		t.Error(len(targets), err)
	}
}
