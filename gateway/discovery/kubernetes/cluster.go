package kubernetes

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"drawbridge/config"
)

// Cluster is an API server, and how the gateway authenticates there.
type Cluster struct {
	// Server is the URL of the API server.
	Server *url.URL
	// RootCAs are the certificate authorities; the system's if nil.
	RootCAs *x509.CertPool
	// ServerName is the name in the certificate of the API server; "" for the host of Server.
	ServerName string
	// Certificate is the client certificate; nil if there is none.
	Certificate *tls.Certificate

	tokenFile   string // read for each request
	staticToken string
}

// serviceAccount is the folder in which a pod has the token of its service account.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

// NewCluster returns the cluster that a provider is configured for.
func NewCluster(d *config.KubernetesDiscovery) (*Cluster, error) {
	if d.Kubeconfig != "" {
		return readKubeconfig(d.Kubeconfig.String(), d.Context)
	}
	server := d.InCluster()
	if server == "" {
		return nil, errors.New("the gateway runs in no pod (KUBERNETES_SERVICE_HOST is not set); give kubeconfig")
	}
	return inCluster(server, serviceAccount)
}

// inCluster returns the cluster of a pod, with the token of its service account.
func inCluster(server, dir string) (*Cluster, error) {
	u, err := parseServer(server)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Server: u, tokenFile: filepath.Join(dir, "token")}
	ca, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("the certificate authority of the cluster: %w; the pod needs automountServiceAccountToken", err)
	}
	if c.RootCAs, err = parseCAs(ca); err != nil {
		return nil, err
	}
	if _, err := c.token(); err != nil {
		return nil, err
	}
	return c, nil
}

func parseServer(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("expected the URL of the API server, got %.200q", text)
	}
	return u, nil
}

func parseCAs(pem []byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("the certificate authority of the cluster holds no PEM certificate")
	}
	return pool, nil
}

// maxToken is the most bytes of a token.
const maxToken = 64 << 10

// token returns the bearer token to send now; "" for none.
func (c *Cluster) token() (string, error) {
	if c.tokenFile == "" {
		return c.staticToken, nil
	}
	text, err := os.ReadFile(c.tokenFile)
	if err != nil {
		return "", fmt.Errorf("the token of the service account: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if err := checkToken(token); err != nil {
		return "", fmt.Errorf("the token in %s %w", c.tokenFile, err)
	}
	return token, nil
}

func checkToken(token string) error {
	switch {
	case token == "":
		return errors.New("is empty")
	case len(token) > maxToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("is not a bearer token")
	}
	return nil
}

// TLS completes the configuration of a connection to the API server.
func (c *Cluster) TLS(base *tls.Config, _ string) (*tls.Config, error) {
	own := base.Clone()
	if c.ServerName != "" {
		own.ServerName = c.ServerName
	}
	if c.Certificate != nil {
		own.Certificates = []tls.Certificate{*c.Certificate}
	}
	return own, nil
}
