package services

import (
	"context"
	"crypto/md5" //nolint:gosec // the algorithm of mod_auth_digest
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/process"
	"drawbridge/test/timebox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	username = "gateway"
	password = "services-password-canary"
)

const document = `openapi: 3.1.0
info: {title: Service, version: '1'}
paths:
  %s:
    get: {operationId: read, responses: {'200': {description: ok}}}
`

// start starts a program and waits until it answers at a URL.
func start(t *testing.T, url, name string, args ...string) {
	t.Helper()
	child, err := process.Start(t.Context(), name, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = child.Stop() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if err := child.Await(ctx, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}); err != nil {
		t.Fatal(err)
	}
}

// call makes several calls of a tool at the same time, whose results must have a text, and not the password.
func call(t *testing.T, g *gateway.Gateway, tool string, times int, want string) {
	t.Helper()
	var wg sync.WaitGroup
	for range times {
		wg.Go(func() {
			raw, err := gatewaytest.CallAsOperator(t.Context(), g, tool, json.RawMessage("{}"))
			if text := string(raw); err != nil || !strings.Contains(text, want) || strings.Contains(text, password) {
				t.Errorf("%s: %v %s, want %s", tool, err, text, want)
			}
		})
	}
	timebox.Done(t, wg.Wait)
}

// TestLogin: Node-RED ends sessions after twelve seconds. One API is told the lifetime and logs in before, the other one learns of it by
// a 401, the third one has another password.
func TestLogin(t *testing.T) {
	packages := os.Getenv("SERVICES_PACKAGES")
	if packages == "" {
		t.Skip("make services-e2e installs Node-RED")
	}
	dir := t.TempDir()
	address, err := process.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	hash := exec.CommandContext(t.Context(), "node", "-e", "process.stdout.write(require('bcryptjs').hashSync(process.argv[1], 4))", password)
	hash.Dir = packages
	hashed, err := hash.Output()
	if err != nil {
		t.Fatal(err)
	}
	settings := fmt.Sprintf(`module.exports = {
  uiHost: "127.0.0.1", uiPort: %s, userDir: %q, flowFile: "flows.json", httpNodeRoot: false, disableEditor: true, credentialSecret: "s",
  adminAuth: { type: "credentials", sessionExpiryTime: 12, users: [{ username: %q, password: %q, permissions: "*" }] },
  logging: { console: { level: "warn" } },
};
`, strings.TrimPrefix(address, "127.0.0.1:"), dir, username, hashed)
	file := filepath.Join(dir, "settings.js")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	base := "http://" + address
	start(t, base+"/auth/login", "node", filepath.Join(packages, "node_modules/node-red/red.js"), "-s", file)

	api := func(name, password, lifetime string) string {
		return fmt.Sprintf(`
  - name: %s
    spec: $SPEC
    base_url: $BASE
    credential:
      type: login
      username: %s
      password: %s
      login:
        url: /auth/token
        form: {client_id: node-red-admin, grant_type: password, scope: "*", username: "{{username}}", password: "{{password}}"}
        token_pointer: /access_token
        %s
`, name, username, password, lifetime)
	}
	g := gatewaytest.Start(t, fmt.Sprintf(document, "/auth/login"), "apis:"+
		strings.ReplaceAll(api("told", password, "lifetime_pointer: /expires_in")+api("learns", password, "")+api("wrong", "another", ""), "$SPEC", flows(t, dir)), base)
	for _, name := range []string{"told", "learns"} {
		call(t, g, name+"_read", 20, `"text":"[]"`)
	}
	call(t, g, "wrong_read", 3, "The gateway can't log in to the service.")
	// The service's clock ends the sessions, not that of the test.
	time.Sleep(13 * time.Second)
	for _, name := range []string{"told", "learns"} {
		call(t, g, name+"_read", 20, `"text":"[]"`)
	}
}

// flows writes the document of Node-RED's flows.
func flows(t *testing.T, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "flows.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, document, "/flows"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestDigest: mod_auth_digest ends nonces after two seconds, and says that they are stale.
func TestDigest(t *testing.T) {
	apache := os.Getenv("SERVICES_APACHE")
	if apache == "" {
		t.Skip("make services-e2e installs Apache httpd")
	}
	dir := t.TempDir()
	address, err := process.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	sum := md5.Sum([]byte(username + ":a realm:" + password)) //nolint:gosec // as above
	modules := "/usr/lib/apache2/modules/mod_"
	conf := fmt.Sprintf(`ServerRoot %[1]s
ServerName localhost
Listen %[2]s
PidFile %[1]s/pid
DefaultRuntimeDir %[1]s
ErrorLog %[1]s/error.log
LoadModule mpm_event_module %[3]smpm_event.so
LoadModule authn_core_module %[3]sauthn_core.so
LoadModule authn_file_module %[3]sauthn_file.so
LoadModule authz_core_module %[3]sauthz_core.so
LoadModule authz_user_module %[3]sauthz_user.so
LoadModule auth_digest_module %[3]sauth_digest.so
User www-data
Group www-data
DocumentRoot %[1]s/www
<Directory %[1]s/www>
  ForceType application/json
  AuthType Digest
  AuthName "a realm"
  AuthDigestDomain /
  AuthDigestProvider file
  AuthDigestNonceLifetime 2
  AuthUserFile %[1]s/users
  Require valid-user
</Directory>
`, dir, address, modules)
	if err := os.Mkdir(filepath.Join(dir, "www"), 0o755); err != nil { //nolint:gosec // the server has a user of its own
		t.Fatal(err)
	}
	for at := dir; at != os.TempDir() && len(at) > 1; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil { //nolint:gosec // as above
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"httpd.conf": conf, "users": username + ":a realm:" + hex.EncodeToString(sum[:]) + "\n", "www/stock": `{"done":true}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil { //nolint:gosec // as above
			t.Fatal(err)
		}
	}
	base := "http://" + address
	start(t, base, apache, "-X", "-f", filepath.Join(dir, "httpd.conf"))
	api := func(name, password string) string {
		return fmt.Sprintf("  - {name: %s, spec: $SPEC, base_url: $BASE, credential: {type: digest, username: %s, password: %s}}\n", name, username, password)
	}
	g := gatewaytest.Start(t, fmt.Sprintf(document, "/stock"), "apis:\n"+api("good", password)+api("wrong", "another"), base)
	for range 3 {
		call(t, g, "good_read", 1, `{\"done\":true}`)
		call(t, g, "good_read", 20, `{\"done\":true}`)
		time.Sleep(3 * time.Second) // nonces end by the clock of the service
	}
	call(t, g, "wrong_read", 3, "does not accept the gateway's credential")
}
