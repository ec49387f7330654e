package kubernetes

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/gateway/upstream"
	"drawbridge/test/timebox"
)

// certificate makes a certificate, signed by its own key, for a server and a client.
func certificate(t *testing.T) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, DNSNames: []string{"kubernetes.default.svc"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text})
}

// TestKubeconfig reads the files of testdata/kubeconfig: each is a cluster, or an error that names what is wrong and has no
// secret. CERTIFICATE and KEY in a file stand for data.
func TestKubeconfig(t *testing.T) {
	cert, key := certificate(t)
	replace := strings.NewReplacer("CERTIFICATE", base64.StdEncoding.EncodeToString(cert), "KEY", base64.StdEncoding.EncodeToString(key))
	archives(t, "testdata/kubeconfig/*.txtar", func(t *testing.T, files map[string]*txtar.File) {
		dir := t.TempDir()
		for name, f := range files {
			if name == "result" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(replace.Replace(string(f.Data))), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var b strings.Builder
		for _, name := range []string{"", "other", "third", "fourth"} {
			c, err := readKubeconfig(filepath.Join(dir, "kubeconfig"), name)
			if err != nil {
				fmt.Fprintf(&b, "%q: %s\n", name, strings.ReplaceAll(err.Error(), dir, "DIR"))
				continue
			}
			token, err := c.token()
			fmt.Fprintf(&b, "%q: %s, authorities %t, name %q, certificate %t, token %q, error %v\n",
				name, c.Server, c.RootCAs != nil, c.ServerName, c.Certificate != nil, token, err)
		}
		files["result"].Data = []byte(b.String())
	})
}

// The provider speaks to a server over TLS and HTTP/2 with the gateway's own client: with the token and the certificate
// authority of a pod, and with a kubeconfig file that has a client certificate.
func TestConnection(t *testing.T) {
	cert, key := certificate(t)
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	fake := newFakeServer()
	fake.put("services", serviceNamed("orders", nil))
	fake.put("endpointslices", sliceOf("orders", true))
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("%s over %s, which has no pings", r.URL, r.Proto)
		}
		fake.ServeHTTP(w, r)
	}))
	s.EnableHTTP2 = true
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(cert)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: authorities, ClientAuth: tls.VerifyClientCertIfGiven}
	s.StartTLS()
	defer s.Close()

	dir := t.TempDir()
	kubeconfig := fmt.Sprintf(`{"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
"clusters": [{"name": "k", "cluster": {"server": %q, "certificate-authority": "ca.crt", "tls-server-name": "kubernetes.default.svc"}}],
"users": [{"name": "u", "user": {"client-certificate-data": %q, "client-key-data": %q, "tokenFile": "token"}}]}`,
		s.URL, base64.StdEncoding.EncodeToString(cert), base64.StdEncoding.EncodeToString(key))
	for name, text := range map[string]string{"token": "t0\n", "ca.crt": string(cert), "kubeconfig": kubeconfig} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pod, err := inCluster(s.URL, dir)
	if err != nil {
		t.Fatal(err)
	}
	outside, err := NewCluster(&config.KubernetesDiscovery{Kubeconfig: config.File(filepath.Join(dir, "kubeconfig"))})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*Cluster{"pod": pod, "kubeconfig": outside} {
		t.Run(name, func(t *testing.T) {
			client := upstream.NewClient(upstream.Options{Name: "p", BaseURL: c.Server, RootCAs: c.RootCAs, TLS: c.TLS, MaxRatio: 200, FirstByte: 15 * time.Second})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			reports := make(chan string)
			done := make(chan struct{})
			go func() {
				defer close(done)
				New(shop, c, client).Run(ctx, func(targets []discovery.Target, err error) {
					select {
					case reports <- describe(targets, err):
					case <-ctx.Done():
					}
				})
			}()
			if got := timebox.Receive(t, reports); got != orders {
				t.Error(got)
			}
			fake.put("services", serviceNamed("orders", map[string]any{"drawbridge/path": "/" + name}))
			for want := fmt.Sprintf("shop/orders http [orders.shop.svc:80] path=%q\n", "/"+name); ; {
				if got := timebox.Receive(t, reports); got == want {
					break
				}
			}
			fake.put("services", serviceNamed("orders", nil))
			cancel()
			timebox.Receive(t, done)
		})
	}
}

// A pod without what a service account has is told so.
func TestNoServiceAccount(t *testing.T) {
	cert, _ := certificate(t)
	if _, err := NewCluster(&config.KubernetesDiscovery{}); err == nil || err.Error() != "the gateway runs in no pod (KUBERNETES_SERVICE_HOST is not set); give kubeconfig" {
		t.Error(err)
	}
	dir := t.TempDir()
	if _, err := inCluster("https://10.96.0.1:443", dir); err == nil || !strings.Contains(err.Error(), "automountServiceAccountToken") {
		t.Error(err)
	}
	for name, text := range map[string]string{"ca.crt": string(cert), "token": "two words"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := inCluster("https://10.96.0.1:443", dir); err == nil || !strings.HasSuffix(err.Error(), "is not a bearer token") || strings.Contains(err.Error(), "two") {
		t.Error(err)
	}
}
