package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"drawbridge/test/process"
)

// dnsRegistry is dnsmasq with SRV records. It reads them when it starts, so that a change starts it anew.
type dnsRegistry struct {
	names    []string // all services that the measurement has
	file     string
	address  string
	server   *process.Child
	services map[string]*service
}

func newDNSRegistry(ctx context.Context, o *options, dir string) (registry, error) {
	address, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	// Another loopback address, because connections of this machine may take a port of 127.0.0.1 while the server is away.
	_, port, _ := net.SplitHostPort(address)
	r := &dnsRegistry{file: filepath.Join(dir, "dnsmasq.conf"), address: net.JoinHostPort("127.53.0.1", port), services: map[string]*service{}, names: []string{"stays", "late"}}
	for i := range max(o.changes, 5) {
		r.names = append(r.names, fmt.Sprint("s", i), fmt.Sprint("old", i), fmt.Sprint("new", i), fmt.Sprint("one", i))
	}
	for i := range o.services {
		r.names = append(r.names, fmt.Sprintf("m%03d", i))
	}
	return r, r.up(ctx)
}

func srvName(name string) string { return "_http._tcp." + name + ".e2e.test" }

func (r *dnsRegistry) unlocated() {}

func (r *dnsRegistry) provider() string {
	var names []string
	for _, name := range r.names {
		names = append(names, srvName(name))
	}
	return fmt.Sprintf("dns: {names: [%s], server: %q, refresh: 1s}, documents: {paths: [/openapi.json]}", strings.Join(names, ", "), r.address)
}

// up starts the server and waits until it answers with the records.
func (r *dnsRegistry) up(ctx context.Context) error {
	host, port, _ := net.SplitHostPort(r.address)
	var b strings.Builder
	fmt.Fprintf(&b, "port=%s\nlisten-address=%s\nbind-interfaces\nno-resolv\nno-hosts\nlocal=/e2e.test/\npid-file=\nuser=root\n", port, host)
	for name, s := range r.services {
		host, _, _ := net.SplitHostPort(s.address)
		if host == "127.0.0.1" {
			host = "localhost" // a target is a name
		}
		fmt.Fprintf(&b, "srv-host=%s,%s,%d,10,5\n", srvName(name), host, s.port())
	}
	if err := os.WriteFile(r.file, []byte(b.String()), 0o600); err != nil {
		return err
	}
	var err error
	if r.server, err = process.Start(ctx, "dnsmasq", "--keep-in-foreground", "--conf-file="+r.file); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, r.address)
	}}
	return r.server.Await(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return each(r.services, func(name string, _ *service) error {
			_, _, err := resolver.LookupSRV(ctx, "", "", srvName(name)+".")
			return err
		})
	})
}

func (r *dnsRegistry) down() error { return kill(r.server) }

func (r *dnsRegistry) stop() { _ = kill(r.server) }

func (r *dnsRegistry) set(ctx context.Context, services map[string]*service) error {
	maps.Copy(r.services, services)
	maps.DeleteFunc(r.services, func(_ string, s *service) bool { return s == nil })
	if err := kill(r.server); err != nil {
		return err
	}
	return r.up(ctx)
}
