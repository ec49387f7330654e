package credential

import (
	"crypto"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"drawbridge/auth"
	"drawbridge/test/timebox"
)

// churn rewrites a file again and again until all readers have done their work,
// half of the time in place, so that a reader may meet a part of it, and half by
// a file that takes its name.
func churn(t *testing.T, file string, contents [][]byte, readers int, read func() error) {
	t.Helper()
	var stop atomic.Bool
	var writer, wg sync.WaitGroup
	writer.Go(func() {
		for n := 0; !stop.Load(); n++ {
			content := contents[n%len(contents)]
			if n%4 < 2 {
				if err := os.WriteFile(file, content, 0o600); err != nil {
					t.Error(err)
				}
				continue
			}
			if err := os.WriteFile(file+".new", content, 0o600); err != nil {
				t.Error(err)
			}
			if err := os.Rename(file+".new", file); err != nil {
				t.Error(err)
			}
		}
	})
	for range readers {
		wg.Go(func() {
			for range 100 {
				if err := read(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	timebox.Done(t, wg.Wait)
	stop.Store(true)
	timebox.Done(t, writer.Wait)
}

// fast is a clock on which a second passes with each look, so that files are read as often as can be.
func fast() func() time.Time {
	var ticks atomic.Int64
	start := time.Now()
	return func() time.Time { return start.Add(time.Duration(ticks.Add(1)) * time.Second) }
}

// While keys are exchanged, everything is signed by one of them, whole, under its own ID.
func TestKeyRotationUnderLoad(t *testing.T) {
	file := writePEM(t, "", ecKey(t))
	var contents [][]byte
	keys := map[string]crypto.PublicKey{}
	for range 3 {
		key := ecKey(t)
		writePEM(t, file, key)
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		contents = append(contents, content)
		keys[keyID(t, signingKey(t, KeyOptions{File: file}))] = key.Public()
	}
	key := signingKey(t, KeyOptions{File: file, Now: fast()})
	var seen sync.Map
	churn(t, file, contents, 4, func() error {
		text, err := key.sign(map[string]string{"a": "b"})
		if err != nil {
			return err
		}
		jws, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{jose.ES256})
		if err != nil {
			return err
		}
		id := jws.Signatures[0].Header.KeyID
		seen.Store(id, true)
		if keys[id] == nil {
			return fmt.Errorf("unknown key %q", id)
		}
		_, err = jws.Verify(keys[id])
		return err
	})
	n := 0
	for range seen.Range {
		n++
	}
	if n < 2 {
		t.Errorf("%d keys have signed", n)
	}
}

func keyID(t *testing.T, k *SigningKey) string {
	t.Helper()
	s, err := k.file.get()
	if err != nil {
		t.Fatal(err)
	}
	return s.key.KeyID
}

// Whatever is written to the file, an identity that was given out verifies with
// the keys that are published then.
func TestIdentityRotationUnderLoad(t *testing.T) {
	file := writePEM(t, "", ecKey(t))
	var contents [][]byte
	for range 3 {
		content, err := os.ReadFile(writePEM(t, "", ecKey(t)))
		if err != nil {
			t.Fatal(err)
		}
		contents = append(contents, content)
	}
	var ticks atomic.Int64
	start := time.Now()
	now := func() time.Time { return start.Add(time.Duration(ticks.Add(1)) * checkInterval / 50) } // 4 readers, several looks each: a key is published for longer than they take
	i, err := NewIdentity(IdentityOptions{Issuer: "https://mcp.example.com", Files: []string{file}, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	b := &identityCache{identity: i, audience: "orders", maxEntries: maxCachedIdentities}
	churn(t, file, contents, 4, func() error {
		header, err := b.header(&auth.Principal{Subject: "alice"})
		if err != nil {
			return err
		}
		if _, ok := verify(t, i, header[0]); !ok {
			return errors.New("no published key has signed it")
		}
		return nil
	})
}

// While the two files of a certificate are exchanged, one after the other, every
// connection shows a whole one.
func TestCertificateRotationUnderLoad(t *testing.T) {
	servers, clients := newAuthority(t), newAuthority(t)
	s := peer(t, servers, clients)
	dir := t.TempDir()
	certFile, keyFile := clients.write(t, dir, "gateway0", time.Now().Add(time.Hour))
	caFile := filepath.Join(dir, "ca.pem")
	put(t, caFile, servers.pem)
	c, err := NewClientCertificate(CertificateOptions{CertFile: certFile, KeyFile: keyFile, CAFile: caFile, Origin: mustURL(t, s.URL)})
	if err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var writer, readers sync.WaitGroup
	writer.Go(func() {
		for n := 1; !stop.Load(); n++ {
			clients.write(t, dir, fmt.Sprintf("gateway%d", n%3), time.Now().Add(time.Hour))
			// The authority in use comes first: the file is written in place, and half of it may be read.
			put(t, caFile, slices.Concat(servers.pem, newAuthority(t).pem))
		}
	})
	for range 4 {
		readers.Go(func() {
			for range 25 {
				if got, err := ask(t, c, s.URL); err != nil || !strings.HasPrefix(got, "gateway") {
					t.Errorf("%q, %v", got, err)
				}
			}
		})
	}
	timebox.Done(t, readers.Wait)
	stop.Store(true)
	timebox.Done(t, writer.Wait)
}

// A key file that is no file stops nothing: a pipe without a writer, above all.
func TestKeyFileKinds(t *testing.T) {
	dir := t.TempDir()
	file := writePEM(t, filepath.Join(dir, "key.pem"), ecKey(t))
	now := time.Now()
	key := signingKey(t, KeyOptions{File: file, Now: func() time.Time { return now }})
	other := ecKey(t)
	id := func() string {
		text, err := key.sign(1)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(text, ".")[0] // the header, with the ID
	}
	first := id()
	if writePEM(t, file, other); id() != first {
		t.Error("the file is read for each signature")
	}
	if now = now.Add(checkInterval); id() == first {
		t.Error("the file is not read again")
	}
	for name, turn := range map[string]func() error{
		"pipe":      func() error { return syscall.Mkfifo(file, 0o600) },
		"directory": func() error { return os.Mkdir(file, 0o700) },
		"device":    func() error { return os.Symlink("/dev/zero", file) },
	} {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := turn(); err != nil {
			t.Fatal(err)
		}
		now = now.Add(checkInterval)
		if _, err := key.sign(1); err != nil {
			t.Errorf("%s: the last good key does not sign: %v", name, err)
		}
		if diff := cmp.Diff(fmt.Sprintf("credential: %q is not a regular file", file), fmt.Sprint(key.Problem())); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A key that everybody may read is told of; a certificate is meant to be read (E8).
func TestExposedFiles(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := newAuthority(t).write(t, dir, "gateway", time.Now().Add(time.Hour))
	for mode, want := range map[fs.FileMode][]string{0o600: nil, 0o640: nil, 0o644: {keyFile}, 0o604: {keyFile}} {
		for file, mode := range map[string]fs.FileMode{keyFile: mode, certFile: 0o644} {
			if err := os.Chmod(file, mode); err != nil {
				t.Fatal(err)
			}
		}
		c, err := NewClientCertificate(CertificateOptions{CertFile: certFile, KeyFile: keyFile, Origin: origin0()})
		if err != nil {
			t.Fatal(err)
		}
		i, err := NewIdentity(IdentityOptions{Issuer: "https://mcp.example.com", Files: []string{keyFile}})
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range [][]string{c.Exposed(), i.Exposed(), signingKey(t, KeyOptions{File: keyFile}).Exposed()} {
			if diff := cmp.Diff(strings.Join(want, " "), strings.Join(got, " ")); diff != "" {
				t.Errorf("%o: %s", mode, diff)
			}
		}
	}
}

// What a call has sent is noted for that call: tokens and identities, each once.
func TestSent(t *testing.T) {
	var sent, other Sent
	ctx := fromAlice(t)
	wraps := chain(t)
	rt := wraps["pass"](wraps["identity"](wraps["exchange"](&answer{&http.Response{StatusCode: http.StatusOK, Body: http.NoBody}})))
	for range 2 {
		if _, err := rt.RoundTrip(request(t, "GET https://orders.example.com/").WithContext(sent.Context(ctx))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := rt.RoundTrip(request(t, "GET https://billing.example.com/").WithContext(other.Context(ctx))); err != nil {
		t.Fatal(err)
	}
	if got := sent.Reveal(); len(got) != 2 || !strings.HasPrefix(got[0], "ey") || got[1] != "got" || len(other.Reveal()) != 0 {
		t.Errorf("%q, %q", got, other.Reveal())
	}
}
