package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestGuardedRedis: over TLS, and with the access control of docs/replicas.md and nothing else, everything is shared.
func TestGuardedRedis(t *testing.T) {
	page, err := os.ReadFile("../../docs/replicas.md")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^user drawbridge .*$`).FindString(string(page))
	if line == "" {
		t.Fatal("docs/replicas.md has no line for access control")
	}
	const password = "canary-of-the-password"
	rules := strings.Fields(strings.Replace(line, ">PASSWORD", ">"+password, 1))
	dir := t.TempDir()
	certificate(t, dir)
	acl := filepath.Join(dir, "users.acl")
	if err := os.WriteFile(acl, []byte("user default on nopass -@all +ping\n"+strings.Join(rules, " ")+"\nuser reader on >reads ~* +@read +@connection\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, setup{
		redis: []string{"--port", "0", "--tls-port", "$PORT", "--tls-cert-file", filepath.Join(dir, "tls.crt"), "--tls-key-file", filepath.Join(dir, "tls.key"),
			"--tls-auth-clients", "no", "--aclfile", acl},
		scheme: "rediss://", more: `, user: drawbridge, password: ` + password + `, ca_file: "` + filepath.Join(dir, "tls.crt") + `"`,
	})
	t.Run("session", w.sub((*world).sessions))
	t.Run("proof", w.sub((*world).proofs))
	t.Run("rate", w.sub((*world).rates))
	t.Run("consent", w.sub((*world).consents))
	t.Run("task", w.sub((*world).tasks))
	t.Run("callback", w.sub((*world).callbacks))
	for i, g := range w.gateways {
		if s := g.Status().Shared; !s.Up || s.Replicas != 3 {
			t.Errorf("replica %d: %+v", i, s)
		}
		if refused := w.failures(i); refused != "" {
			t.Errorf("replica %d: %s", i, refused)
		}
	}
}

// certificate makes one for loopback that signs itself.
func certificate(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"tls.crt": {Type: "CERTIFICATE", Bytes: der}, "tls.key": {Type: "PRIVATE KEY", Bytes: private}} {
		var b bytes.Buffer
		if err := pem.Encode(&b, block); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
