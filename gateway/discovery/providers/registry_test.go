package providers

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
)

// loadItem reads the configuration of a provider.
func loadItem(t *testing.T, item string) *config.Discovery {
	t.Helper()
	path := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(path, []byte("discovery: [{name: p, "+item+"}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(path, func(string) string { return "t0" })
	if c == nil {
		t.Fatal(problems)
	}
	return &c.Discovery[0]
}

// runOnce runs a provider until it reports services, and returns them.
func runOnce(t *testing.T, d *config.Discovery) string {
	t.Helper()
	p, err := New(d, Options{Version: "1.0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var names []string
	p.Run(ctx, func(targets []discovery.Target, err error) {
		if err != nil {
			t.Error(err)
		}
		names = nil
		for i := range targets {
			names = append(names, fmt.Sprint(targets[i].Name, targets[i].Instances))
		}
		cancel()
	})
	return strings.Join(names, " ")
}

// A Docker daemon is asked at its socket. The events, which do not end, are no reason to wait for the list.
func TestSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "docker") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	listener, err := net.Listen("unix", filepath.Join(dir, "docker.sock"))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Api-Version", "1.44")
		switch r.URL.Path {
		case "/v1.44/events":
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/v1.44/containers/json":
			fmt.Fprint(w, `[{"Names": ["/orders"], "State": "running", "Labels": {"drawbridge.service": "orders"},
				"Ports": [{"IP": "0.0.0.0", "PrivatePort": 80, "PublicPort": 8080, "Type": "tcp"}]}]`)
		}
	}))
	s.Listener.Close()
	s.Listener = listener
	s.Start()
	defer s.Close()
	if got := runOnce(t, loadItem(t, fmt.Sprintf("docker: {host: 'unix://%s'}", listener.Addr()))); got != "orders[127.0.0.1:8080]" {
		t.Error(got)
	}
}

// The token is sent to Consul, with queries that wait.
func TestConsul(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Consul-Token") != "t0" || r.Header.Get("User-Agent") != "drawbridge/1.0" {
			t.Errorf("headers %v", r.Header)
		}
		if r.URL.Query().Get("index") != "" {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Consul-Index", "7")
		if r.URL.Path == "/v1/catalog/services" {
			fmt.Fprint(w, `{"consul": [], "orders": ["http"], "db": []}`)
			return
		}
		fmt.Fprint(w, `[{"Node": {"Address": "10.0.0.1"}, "Service": {"ID": "o", "Port": 80, "Tags": ["http"]}, "Checks": []}]`)
	}))
	defer s.Close()
	if got := runOnce(t, loadItem(t, fmt.Sprintf("consul: {address: %q, token: '${TOKEN}', tags: [http]}", s.URL))); got != "orders[10.0.0.1:80]" {
		t.Error(got)
	}
}

// Files that can't be used are errors before anything is sent.
func TestMissingFiles(t *testing.T) {
	d := loadItem(t, "consul: {}")
	d.Consul.CAFile = "missing.pem"
	if _, err := New(d, Options{}); err == nil {
		t.Error("a missing ca_file")
	}
	d = loadItem(t, "docker: {host: 'https://docker.internal:2376'}")
	d.Docker.CertFile, d.Docker.KeyFile = "missing.pem", "missing.pem"
	if _, err := New(d, Options{}); err == nil {
		t.Error("a missing cert_file")
	}
}

// A daemon with TLS is shown the certificate of the configuration, and is itself verified with its ca_file.
func TestTLS(t *testing.T) {
	var shown []string
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, c := range r.TLS.PeerCertificates {
			shown = append(shown, c.Subject.CommonName)
		}
		w.WriteHeader(http.StatusForbidden)
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	s.StartTLS()
	defer s.Close()
	dir := t.TempDir()
	write := func(name, kind string, der []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "gateway"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write("ca.pem", "CERTIFICATE", s.Certificate().Raw)
	write("cert.pem", "CERTIFICATE", der)
	write("key.pem", "PRIVATE KEY", private)
	p, err := New(loadItem(t, fmt.Sprintf("docker: {host: %q, ca_file: %[2]s/ca.pem, cert_file: %[2]s/cert.pem, key_file: %[2]s/key.pem}", s.URL, dir)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.Run(ctx, func(_ []discovery.Target, err error) {
		if got := fmt.Sprint(err); got != s.URL+"/_ping: expected status 200, got 403" || !slices.Equal(shown, []string{"gateway"}) {
			t.Errorf("%s; certificates %q", got, shown)
		}
		cancel()
	})
}

// A Eureka server and an API catalog are asked with the client of all registries, and SRV records of the server that is named.
func TestPolled(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("User-Agent") != "drawbridge/1.0" {
			t.Errorf("headers %v", r.Header)
		}
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/.well-known/api-catalog" {
			fmt.Fprint(w, `{"linkset": [{"anchor": "/orders", "service-desc": [{"href": "/openapi.json"}]}]}`)
			return
		}
		if answer, ok := map[string]string{
			"/v4/default/registry/microservices":             `{"services": [{"serviceId": "1", "serviceName": "orders", "schemas": ["api"]}]}`,
			"/v4/default/registry/microservices/1/instances": `{"instances": [{"endpoints": ["rest://10.0.0.1:80"], "status": "UP"}]}`,
			"/v4/default/registry/microservices/1/schemas":   `{"schemas": [{"schemaId": "api", "schema": "openapi: 3.0.3"}]}`,
			"/nacos/v3/admin/ns/service/list": `{"code": 0, "data": {"totalCount": 1, "pageItems": [{"serviceName": "orders", "groupName": "DEFAULT_GROUP",
				"clusterMap": {"DEFAULT": {"hosts": [{"ip": "10.0.0.1", "port": 80, "weight": 1, "healthy": true, "enabled": true}]}}}]}}`,
		}[r.URL.Path]; ok {
			fmt.Fprint(w, answer)
			return
		}
		if user, password, _ := r.BasicAuth(); r.URL.Path != "/eureka/apps" || user != "u" || password != "t0" {
			t.Error(r.URL, user, password)
		}
		fmt.Fprint(w, `{"applications": {"application": [{"name": "ORDERS", "instance": [{"hostName": "10.0.0.1", "status": "UP", "port": {"$": 80, "@enabled": "true"}}]}]}}`)
	}))
	defer s.Close()
	if got := runOnce(t, loadItem(t, fmt.Sprintf("eureka: {url: '%s/eureka', username: u, password: '${PASSWORD}'}", s.URL))); got != "orders[10.0.0.1:80]" {
		t.Error(got)
	}
	if got := runOnce(t, loadItem(t, fmt.Sprintf("api_catalog: {url: %q}", s.URL))); got != fmt.Sprintf("orders[%s]", s.Listener.Addr()) {
		t.Error(got)
	}
	if got := runOnce(t, loadItem(t, fmt.Sprintf("service_center: {address: %q}", s.URL))); got != "orders-api[10.0.0.1:80]" {
		t.Error(got)
	}
	if got := runOnce(t, loadItem(t, fmt.Sprintf("nacos: {address: '%s/nacos'}", s.URL))); got != "orders[10.0.0.1:80]" {
		t.Error(got)
	}
	closed, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	p, err := New(loadItem(t, fmt.Sprintf("dns: {names: [orders.example.com], server: %q}", closed.LocalAddr())), Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.Run(ctx, func(targets []discovery.Target, err error) {
		if targets != nil || !strings.Contains(fmt.Sprint(err), closed.LocalAddr().String()) {
			t.Error(targets, err)
		}
		cancel()
	})
	for _, item := range []string{
		"eureka: {url: 'https://e.example.com'}", "api_catalog: {url: 'https://c.example.com'}",
		"nacos: {address: 'https://n.example.com/nacos'}", "service_center: {address: 'https://s.example.com'}",
	} {
		d := loadItem(t, item)
		switch {
		case d.Eureka != nil:
			d.Eureka.CAFile = "missing.pem"
		case d.Nacos != nil:
			d.Nacos.CAFile = "missing.pem"
		case d.ServiceCenter != nil:
			d.ServiceCenter.CAFile = "missing.pem"
		default:
			d.APICatalog.CAFile = "missing.pem"
		}
		if _, err := New(d, Options{}); err == nil {
			t.Error("a missing ca_file", item)
		}
	}
}
