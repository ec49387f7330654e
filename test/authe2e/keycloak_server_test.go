package authe2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"drawbridge/test/process"
)

// The folder of an installed Keycloak; make keycloak-e2e installs it and sets the variable.
const keycloakVariable = "KEYCLOAK"

const adminName = "admin"

// keycloak is a Keycloak with the realm of deploy/keycloak, in a folder of its own. One goroutine uses it at a time.
type keycloak struct {
	address  string   // host and port
	env      []string // of its process
	commands string   // the page's shell block that starts it
	password string   // of the administrator
	pidFile  string   // for who ends what a killed test has left
	child    *process.Child
	client   *http.Client
}

// startKeycloak starts the server by the commands of the page, with its addresses and secrets replaced.
func startKeycloak(ctx context.Context, t *testing.T, home, address, commands string, env []string) *keycloak {
	t.Helper()
	k := &keycloak{address: address, commands: commands, password: newSecret(), client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}}
	own, err := os.MkdirTemp(filepath.Dir(home), "run-") // beside it: links don't cross file systems
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(own) })
	if err := linkTree(home, own); err != nil {
		t.Fatal(err)
	}
	k.pidFile = filepath.Join(own, "pid")
	k.env = append(env, keycloakVariable+"="+own, "KC_BOOTSTRAP_ADMIN_USERNAME="+adminName, "KC_BOOTSTRAP_ADMIN_PASSWORD="+k.password)
	t.Cleanup(func() {
		if t.Failed() && k.child != nil {
			t.Logf("Keycloak's last words:\n%s", k.child.Log())
		}
		if err := k.stop(); err != nil {
			t.Error(err)
		}
	})
	if err := k.start(ctx); err != nil {
		t.Fatal(err)
	}
	return k
}

// linkTree copies a folder by links to its files, without data.
func linkTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch target := filepath.Join(to, rel); {
		case rel == "data":
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		default:
			return os.Link(path, target)
		}
	})
}

// start starts the process, again after stop, and waits until the realm answers.
func (k *keycloak) start(ctx context.Context) error {
	child, err := process.Start(context.WithoutCancel(ctx), "env", append(k.env, "bash", "-euc", k.commands)...)
	if err != nil {
		return err
	}
	k.child = child
	if err := os.WriteFile(k.pidFile, []byte(strconv.Itoa(child.PID())), 0o600); err != nil {
		return err
	}
	return child.Await(ctx, func(ctx context.Context) error {
		text, err := k.do(ctx, http.MethodGet, "/realms/acme/.well-known/openid-configuration", "", nil)
		if err == nil && !bytes.Contains(text, []byte(k.issuer())) {
			err = fmt.Errorf("the issuer is not %s: %.200s", k.issuer(), text)
		}
		return err
	})
}

// stop ends the process; it does nothing if it has ended. Java needs more time for that than other programs, and is not
// killed with the script that started it.
func (k *keycloak) stop() error {
	if k.child == nil {
		return nil
	}
	child := k.child
	k.child = nil
	if err := syscall.Kill(child.PID(), syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-child.Exited():
		return nil // with 143, as kc.sh does after SIGTERM
	case <-time.After(time.Minute):
		return errors.Join(errors.New("keycloak did not end within a minute of SIGTERM"), child.Stop())
	}
}

func (k *keycloak) issuer() string { return "http://" + k.address + "/realms/acme" }

// do sends a request and returns the body of an answer below 300.
func (k *keycloak) do(ctx context.Context, method, path, token string, body any) ([]byte, error) {
	var content io.Reader
	kind := "application/json"
	switch b := body.(type) {
	case nil:
	case url.Values:
		content, kind = strings.NewReader(b.Encode()), "application/x-www-form-urlencoded"
	default:
		text, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+k.address+path, content)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", kind)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := k.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: status %d: %.300s", method, path, resp.StatusCode, text)
	}
	return text, err
}

// token requests a token of a realm by a form.
func (k *keycloak) token(ctx context.Context, realm string, form url.Values) (map[string]any, error) {
	text, err := k.do(ctx, http.MethodPost, "/realms/"+realm+"/protocol/openid-connect/token", "", form)
	if err != nil {
		return nil, err
	}
	var got map[string]any
	return got, json.Unmarshal(text, &got)
}

// admin sends a request to the admin API of the realm and decodes the answer into out, unless that is nil.
func (k *keycloak) admin(ctx context.Context, method, path string, body, out any) error {
	got, err := k.token(ctx, "master", url.Values{"grant_type": {"password"}, "client_id": {"admin-cli"}, "username": {adminName}, "password": {k.password}})
	if err != nil {
		return err
	}
	token, _ := got["access_token"].(string)
	text, err := k.do(ctx, method, "/admin/realms/acme"+path, token, body)
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(text, out)
}

// component is a part of the realm, such as a key provider.
type component struct {
	ID           string              `json:"id,omitempty"`
	Name         string              `json:"name"`
	ProviderID   string              `json:"providerId"`
	ProviderType string              `json:"providerType"`
	ParentID     string              `json:"parentId,omitempty"`
	Config       map[string][]string `json:"config"`
}

const keyProvider = "org.keycloak.keys.KeyProvider"

// rotate makes a new key sign, as the documentation of Keycloak describes it. The old ones stay published.
func (k *keycloak) rotate(ctx context.Context) error {
	return k.admin(ctx, http.MethodPost, "/components", component{
		Name: "rsa " + newSecret(), ProviderID: "rsa-generated", ProviderType: keyProvider,
		Config: map[string][]string{"priority": {fmt.Sprint(time.Now().Unix())}, "enabled": {"true"}, "active": {"true"}},
	}, nil)
}

// withdraw removes all keys but the one that signs.
func (k *keycloak) withdraw(ctx context.Context) error {
	var keys []component
	if err := k.admin(ctx, http.MethodGet, "/components?type="+keyProvider, nil, &keys); err != nil {
		return err
	}
	var newest component
	signing := keys[:0]
	for _, c := range keys {
		if c.ProviderID != "rsa-generated" {
			continue
		}
		signing = append(signing, c)
		if newest.ID == "" || c.Config["priority"][0] > newest.Config["priority"][0] && len(c.Config["priority"][0]) >= len(newest.Config["priority"][0]) {
			newest = c
		}
	}
	if len(signing) < 2 {
		return errors.New("there is no key to withdraw")
	}
	for _, c := range signing {
		if c.ID == newest.ID {
			continue
		}
		if err := k.admin(ctx, http.MethodDelete, "/components/"+c.ID, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// tokenLife changes the lifetime of access tokens.
func (k *keycloak) tokenLife(ctx context.Context, life time.Duration) error {
	return k.admin(ctx, http.MethodPut, "", map[string]any{"accessTokenLifespan": int(life.Seconds())}, nil)
}
