package kubernetes

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"drawbridge/gateway/localfile"
)

// kubeconfig is what is read of a kubeconfig file.
type kubeconfig struct {
	CurrentContext string `yaml:"current-context"`
	Contexts       []struct {
		Name    string `yaml:"name"`
		Context struct {
			Cluster string `yaml:"cluster"`
			User    string `yaml:"user"`
		} `yaml:"context"`
	} `yaml:"contexts"`
	Clusters []struct {
		Name    string         `yaml:"name"`
		Cluster clusterSection `yaml:"cluster"`
	} `yaml:"clusters"`
	Users []struct {
		Name string      `yaml:"name"`
		User userSection `yaml:"user"`
	} `yaml:"users"`
}

type clusterSection struct {
	Server     string `yaml:"server"`
	CAFile     string `yaml:"certificate-authority"`
	CAData     string `yaml:"certificate-authority-data"`
	ServerName string `yaml:"tls-server-name"`
	Insecure   bool   `yaml:"insecure-skip-tls-verify"`
	ProxyURL   string `yaml:"proxy-url"`
}

type userSection struct {
	Token     string `yaml:"token"`
	TokenFile string `yaml:"tokenFile"`
	CertFile  string `yaml:"client-certificate"`
	CertData  string `yaml:"client-certificate-data"`
	KeyFile   string `yaml:"client-key"`
	KeyData   string `yaml:"client-key-data"`
	Exec      any    `yaml:"exec"`
	Provider  any    `yaml:"auth-provider"`
	Username  string `yaml:"username"`
	As        string `yaml:"as"`
}

// maxKubeconfig is the most bytes of a kubeconfig file.
const maxKubeconfig = 4 << 20

// readKubeconfig returns the cluster of a context; "" for the current one. The errors have no secret.
func readKubeconfig(path, context string) (*Cluster, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	var k kubeconfig
	if err := yaml.Unmarshal(text, &k); err != nil {
		return nil, fmt.Errorf("%s: expected a kubeconfig file in YAML", path) // the error of the parser may show a secret
	}
	c, err := k.cluster(filepath.Dir(path), context)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func readFile(path string) ([]byte, error) {
	file, err := localfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxKubeconfig+1))
	if err == nil && len(text) > maxKubeconfig {
		err = fmt.Errorf("%s has more than %d bytes", path, maxKubeconfig)
	}
	return text, err
}

// cluster resolves a context. Relative paths are relative to dir.
func (k *kubeconfig) cluster(dir, context string) (*Cluster, error) {
	name := context
	if name == "" {
		name = k.CurrentContext
	}
	if name == "" {
		return nil, errors.New("the file has no current-context; give context")
	}
	var names []string
	for i := range k.Contexts {
		names = append(names, k.Contexts[i].Name)
	}
	at := slices.Index(names, name)
	if at < 0 {
		return nil, fmt.Errorf("there is no context %q; the file has %q", name, names)
	}
	chosen := k.Contexts[at].Context
	c := &Cluster{}
	found := false
	for i := range k.Clusters {
		if k.Clusters[i].Name == chosen.Cluster && !found {
			found = true
			if err := k.Clusters[i].Cluster.apply(c, dir); err != nil {
				return nil, fmt.Errorf("cluster %q: %w", chosen.Cluster, err)
			}
		}
	}
	if !found {
		return nil, fmt.Errorf("context %q: there is no cluster %q", name, chosen.Cluster)
	}
	if chosen.User == "" {
		return c, nil
	}
	for i := range k.Users {
		if k.Users[i].Name != chosen.User {
			continue
		}
		if err := k.Users[i].User.apply(c, dir); err != nil {
			return nil, fmt.Errorf("user %q: %w", chosen.User, err)
		}
		return c, nil
	}
	return nil, fmt.Errorf("context %q: there is no user %q", name, chosen.User)
}

func (s *clusterSection) apply(c *Cluster, dir string) (err error) {
	if c.Server, err = parseServer(s.Server); err != nil {
		return err
	}
	if s.Insecure {
		return errors.New("insecure-skip-tls-verify is not supported; give certificate-authority")
	}
	if s.ProxyURL != "" {
		return errors.New("proxy-url is not supported")
	}
	c.ServerName = s.ServerName
	ca, err := fileOrData(dir, "certificate-authority", s.CAFile, s.CAData)
	if err != nil || ca == nil {
		return err
	}
	c.RootCAs, err = parseCAs(ca)
	return err
}

func (s *userSection) apply(c *Cluster, dir string) error {
	for _, unsupported := range []struct {
		given bool
		key   string
	}{{s.Exec != nil, "exec"}, {s.Provider != nil, "auth-provider"}, {s.Username != "", "username"}, {s.As != "", "as"}} {
		if unsupported.given {
			return fmt.Errorf("%s is not supported; expected token, tokenFile or a client certificate", unsupported.key)
		}
	}
	certificate, err := fileOrData(dir, "client-certificate", s.CertFile, s.CertData)
	if err != nil {
		return err
	}
	key, err := fileOrData(dir, "client-key", s.KeyFile, s.KeyData)
	if err != nil {
		return err
	}
	if (certificate == nil) != (key == nil) {
		return errors.New("client-certificate and client-key belong together")
	}
	if certificate != nil {
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			return fmt.Errorf("client-certificate: %w", err)
		}
		c.Certificate = &pair
	}
	if s.TokenFile != "" {
		c.tokenFile = absolute(dir, s.TokenFile)
	} else if s.Token != "" {
		c.staticToken = strings.TrimSpace(s.Token)
		if err := checkToken(c.staticToken); err != nil {
			return fmt.Errorf("token %w", err)
		}
	}
	if c.Server.Scheme == "http" && (c.tokenFile != "" || c.staticToken != "") {
		return errors.New("the server of the cluster must have https, as a token is sent to it")
	}
	return nil
}

// fileOrData returns what a key or its counterpart with -data holds; nil if neither is given.
func fileOrData(dir, key, file, data string) ([]byte, error) {
	switch {
	case data != "":
		text, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return nil, fmt.Errorf("%s-data: expected base64", key)
		}
		return text, nil
	case file != "":
		text, err := readFile(absolute(dir, file))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		return text, nil
	}
	return nil, nil
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
