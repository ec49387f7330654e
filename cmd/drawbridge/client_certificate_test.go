package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// issued is a client's certificate of an authority, for what usage says.
func issued(t *testing.T, caCert, caKey string, usage x509.ExtKeyUsage, ends time.Time) tls.Certificate {
	t.Helper()
	authority, err := tls.X509KeyPair([]byte(caCert), []byte(caKey))
	if err != nil {
		t.Fatal(err)
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Unix(1e9, 0), NotAfter: ends, ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, authority.Leaf, &private.PublicKey, authority.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
}

// mutual returns the files of a gateway that asks clients for certificates of the authorities in ca.pem, which is not there yet.
func (s *things) mutual(t *testing.T) map[string]string {
	files := s.secured(t, 1)
	files["drawbridge.yaml"] = strings.Replace(files["drawbridge.yaml"], "key_file: tls.key", "key_file: tls.key, client_ca_file: ca.pem", 1)
	return files
}

// TestClientCertificates: who shows no certificate of the authorities gets no connection, by no version of TLS and HTTP; the others call.
func TestClientCertificates(t *testing.T) {
	service := newThings(t)
	files := service.mutual(t)
	caCert, caKey := newPair(t, 10)
	otherCert, otherKey := newPair(t, 11)
	files["ca.pem"] = caCert
	s := serve(t, files)
	s.awaitReady()
	later := time.Now().Add(time.Hour)
	good := issued(t, caCert, caKey, x509.ExtKeyUsageClientAuth, later)
	roots := trusting(t, files["tls.pem"]).TLSClientConfig.RootCAs
	for _, tt := range []struct {
		name  string
		shown []tls.Certificate
		fault string
	}{
		{"none", nil, "certificate required"},
		{"of another authority", []tls.Certificate{issued(t, otherCert, otherKey, x509.ExtKeyUsageClientAuth, later)}, "unknown certificate authority"},
		{"for servers", []tls.Certificate{issued(t, caCert, caKey, x509.ExtKeyUsageServerAuth, later)}, "bad certificate"},
		{"expired", []tls.Certificate{issued(t, caCert, caKey, x509.ExtKeyUsageClientAuth, time.Unix(1.1e9, 0))}, "expired certificate"},
		{"good", []tls.Certificate{good}, ""},
	} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			t.Run(fmt.Sprint(tt.name, " ", tls.VersionName(version)), func(t *testing.T) {
				c := &tls.Config{RootCAs: roots, MinVersion: version, MaxVersion: version}
				if tt.shown != nil { // whatever authorities the gateway names
					c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &tt.shown[0], nil }
				}
				want := tt.fault
				if want == "certificate required" && version == tls.VersionTLS12 {
					want = "handshake failure" // it has no word for it
				}
				if _, err := greet(s.address(), c); (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
			})
		}
	}
	for _, http2 := range []bool{true, false} {
		transport := trusting(t, files["tls.pem"])
		transport.ForceAttemptHTTP2 = http2
		transport.TLSClientConfig.Certificates = []tls.Certificate{good}
		if fault, err := getThing(t.Context(), transport, s.mcp, fmt.Sprint("a", http2)); fault != "" || err != nil {
			t.Errorf("HTTP/2 %v: %s %v", http2, fault, err)
		}
	}
}

// TestCVE_2026_27586_ClientAuthorities: authorities that can't be read let in nobody. Later they leave the last good ones in place, and when others take their
// place, those whom only the former knew get no connection any more, whatever ticket they have; connections that are open go on.
func TestCVE_2026_27586_ClientAuthorities(t *testing.T) {
	service := newThings(t)
	files := service.mutual(t)
	oldCert, oldKey := newPair(t, 10)
	newCert, newKey := newPair(t, 11)
	var log strings.Builder
	dir := t.TempDir()
	(&served{t: t, dir: dir}).write(files)
	if code := run(t.Context(), []string{"serve", "--config", dir + "/drawbridge.yaml"}, func(string) string { return "" }, io.Discard, &log, make(chan os.Signal)); code != exitUsage ||
		!strings.Contains(log.String(), `server.tls.client_ca_file: "`+dir+`/ca.pem" can't be read: no such file or directory`) {
		t.Fatalf("exit code %d without authorities: %s", code, log.String())
	}

	files["ca.pem"] = oldCert
	s := serve(t, files)
	s.awaitReady()
	roots := trusting(t, files["tls.pem"]).TLSClientConfig.RootCAs
	client := func(cert, key string) *tls.Config {
		return &tls.Config{RootCAs: roots, ClientSessionCache: tls.NewLRUClientSessionCache(1), Certificates: []tls.Certificate{issued(t, cert, key, x509.ExtKeyUsageClientAuth, time.Now().Add(time.Hour))}}
	}
	old, young, stranger := client(oldCert, oldKey), client(newCert, newKey), &tls.Config{RootCAs: roots}
	open := &http.Transport{TLSClientConfig: old.Clone(), ForceAttemptHTTP2: true}
	defer open.CloseIdleConnections()
	check := func(when string, c *tls.Config, welcome, returning bool) {
		t.Helper()
		if state, err := greet(s.address(), c); (err == nil) != welcome || err == nil && state.DidResume != returning {
			t.Errorf("%s: %v, resumed %v", when, err, state.DidResume)
		}
	}
	check("at first", old, true, false)
	check("with a ticket", old, true, true)
	check("unknown yet", young, false, false)
	if fault, err := getThing(t.Context(), open, s.mcp, "before"); fault != "" || err != nil {
		t.Fatal(fault, err)
	}

	s.write(map[string]string{"ca.pem": "nobody\n"})
	line := s.await("client CA certificates can't be used; the last good ones stay in use", 1)
	if want := fmt.Sprintf("server.tls.client_ca_file: %q holds no PEM certificate", s.dir+"/ca.pem"); line["error"] != want {
		t.Errorf("log record %v, want the error %q", line, want)
	}
	check("after a bad file", stranger, false, false)
	check("after a bad file", old, true, true)

	ownCert, ownKey := newPair(t, 2) // which does not wait for them
	s.write(map[string]string{"tls.pem": ownCert, "tls.key": ownKey})
	for _, c := range []*tls.Config{old, young, stranger} {
		c.RootCAs = trusting(t, ownCert).TLSClientConfig.RootCAs
	}
	if line = s.await("certificate in use", 1); line["serial"] != "2" || line["asks_clients"] != true {
		t.Errorf("log record %v", line)
	}
	check("with another certificate", stranger, false, false)
	check("with another certificate", old, true, false)

	s.write(map[string]string{"ca.pem": newCert, "tls.key": "nothing\n"})
	if line = s.await("certificate in use", 2); line["serial"] != "2" || line["asks_clients"] != true {
		t.Errorf("log record %v", line)
	}
	check("of the former authority", old, false, false)
	check("of the new one", young, true, false)
	check("without any", stranger, false, false)
	if fault, err := getThing(t.Context(), open, s.mcp, "after"); fault != "" || err != nil {
		t.Errorf("on the open connection: %s %v", fault, err)
	}
}
