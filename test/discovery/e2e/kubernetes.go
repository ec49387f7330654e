package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"drawbridge/test/process"
)

// kubernetesRegistry is kube-apiserver with etcd. There are no controllers: the EndpointSlices of Services are written here.
type kubernetesRegistry struct {
	api
	dir          string
	binary       string
	args         []string
	etcd, server *process.Child
}

// kubernetesToken is what the API server takes for an administrator's token.
const kubernetesToken = "a-token-of-the-test"

func newKubernetesRegistry(ctx context.Context, o *options, dir string) (_ registry, err error) {
	if ip := net.ParseIP(o.address); ip.IsLoopback() {
		return nil, errors.New("an EndpointSlice can't have a loopback address; give another one of this machine with -address")
	}
	var addresses [3]string
	for i := range addresses {
		if addresses[i], err = process.FreeAddress(); err != nil {
			return nil, err
		}
	}
	etcd, server := "http://"+addresses[0], addresses[2]
	peers := "http://" + addresses[1]
	r := &kubernetesRegistry{dir: dir, binary: filepath.Join(o.programs, "kube-apiserver")}
	r.base, r.header = "https://"+server, http.Header{"Authorization": {"Bearer " + kubernetesToken}}
	if r.etcd, err = process.Start(ctx, filepath.Join(o.programs, "etcd"), "--data-dir="+filepath.Join(dir, "etcd"), "--listen-client-urls="+etcd, "--advertise-client-urls="+etcd,
		"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers, "--initial-cluster=default="+peers, "--log-level=error"); err != nil {
		return nil, err
	}
	key, tokens := filepath.Join(dir, "service-account.key"), filepath.Join(dir, "tokens")
	if err := errors.Join(writeKey(key), os.WriteFile(tokens, []byte(kubernetesToken+",admin,admin,system:masters\n"), 0o600)); err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(server)
	r.args = []string{"--etcd-servers=" + etcd, "--bind-address=127.0.0.1", "--advertise-address=" + o.address, "--secure-port=" + port, "--cert-dir=" + filepath.Join(dir, "certificates"),
		"--service-account-issuer=https://kubernetes.invalid", "--service-account-key-file=" + key, "--service-account-signing-key-file=" + key,
		"--service-cluster-ip-range=198.19.0.0/16", "--token-auth-file=" + tokens, "--authorization-mode=AlwaysAllow", "--endpoint-reconciler-type=none"}
	if err := r.up(ctx); err != nil {
		return nil, err
	}
	_, err = r.send(ctx, http.MethodPost, "/api/v1/namespaces", "application/json", map[string]any{"metadata": map[string]string{"name": "shop"}})
	return r, err
}

func writeKey(file string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}

// certificate is the file with the certificate that the API server made for itself.
func (r *kubernetesRegistry) certificate() string {
	return filepath.Join(r.dir, "certificates", "apiserver.crt")
}

func (r *kubernetesRegistry) provider() string {
	file := filepath.Join(r.dir, "kubeconfig")
	text := fmt.Sprintf(`current-context: e2e
contexts: [{name: e2e, context: {cluster: e2e, user: e2e}}]
clusters: [{name: e2e, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: e2e, user: {token: %s}}]
`, r.base, r.certificate(), kubernetesToken)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err) // the gateway says that the file is missing
	}
	return fmt.Sprintf("kubernetes: {kubeconfig: %q, namespaces: [shop], address: endpoints}", file)
}

// up starts the API server and waits until it is ready.
func (r *kubernetesRegistry) up(ctx context.Context) (err error) {
	if r.server, err = process.Start(ctx, r.binary, r.args...); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	return r.server.Await(ctx, func(ctx context.Context) error {
		text, err := os.ReadFile(r.certificate())
		if err != nil {
			return err
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(text)
		r.client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
		_, err = r.send(ctx, http.MethodGet, "/readyz", "", nil)
		return err
	})
}

func (r *kubernetesRegistry) down() error { return kill(r.server) }

func (r *kubernetesRegistry) stop() { _ = errors.Join(kill(r.server), kill(r.etcd)) }

// set applies Services and their EndpointSlices.
func (r *kubernetesRegistry) set(ctx context.Context, services map[string]*service) error {
	const (
		slices = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/"
		all    = "/api/v1/namespaces/shop/services/"
	)
	type object = map[string]any
	return each(services, func(name string, s *service) error {
		if s == nil {
			for _, path := range []string{all, slices} {
				if _, err := r.send(ctx, http.MethodDelete, path+name, "", nil); err != nil {
					return err
				}
			}
			return nil
		}
		host, _, _ := net.SplitHostPort(s.address)
		if err := r.apply(ctx, slices+name, object{
			"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": object{"name": name, "labels": object{"kubernetes.io/service-name": name}},
			"addressType": "IPv4", "ports": []object{{"name": "http", "port": s.port()}}, "endpoints": []object{{"addresses": []string{host}, "conditions": object{"ready": true}}},
		}); err != nil {
			return err
		}
		return r.apply(ctx, all+name, object{
			"apiVersion": "v1", "kind": "Service", "metadata": object{"name": name, "annotations": object{"drawbridge/openapi": s.path()}},
			"spec": object{"clusterIP": "None", "ports": []object{{"name": "http", "port": 80}}},
		})
	})
}

func (r *kubernetesRegistry) apply(ctx context.Context, path string, o map[string]any) error {
	_, err := r.send(ctx, http.MethodPatch, path+"?"+url.Values{"fieldManager": {"e2e"}, "force": {"true"}}.Encode(), "application/apply-patch+yaml", o)
	return err
}
