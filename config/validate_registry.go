package config

import (
	"fmt"
	"slices"
	"strings"

	"drawbridge/openapi/origin"
)

// consulDiscovery checks the provider of Consul's catalog.
func (l *loader) consulDiscovery(key string, d *Discovery) {
	c := d.Consul
	l.authority(key+".ca_file", c.CAFile)
	l.clearToken(key, "address", c.Address, c.Token)
	for name, value := range map[string]string{"datacenter": c.Datacenter, "namespace": c.Namespace, "partition": c.Partition} {
		if at := key + "." + name; l.given(at) && l.ok(at) && (value == "" || value == "*" || checkToken(value) != nil) {
			l.errorf(at, "%s is not a name", quote(value))
		}
	}
	for i, tag := range c.Tags {
		if at := fmt.Sprintf("%s.tags[%d]", key, i); l.ok(at) && (tag == "" || checkText(tag) != nil) {
			l.errorf(at, "%s is not a tag", quote(tag))
		} else if slices.Contains(c.Tags[:i], tag) {
			l.errorf(at, "%s is given twice", quote(tag))
		}
	}
	for name := range c.Meta {
		if at := join(key+".meta", name); l.ok(at) && (name == "" || strings.Trim(name, metaNameCharacters) != "") {
			l.errorf(at, "%s is not a name of metadata: letters, digits, _ and -", quote(name))
		}
	}
}

// metaNameCharacters are those of names of metadata in Consul.
const metaNameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// clearToken checks the token of a registry, and warns if it is sent without TLS.
func (l *loader) clearToken(key, name string, to URL, token Secret) {
	if token.IsZero() || !l.ok(key+".token") {
		return
	}
	if err := checkToken(token.Reveal()); err != nil {
		l.errorf(key+".token", "%s", err)
	}
	if at := key + "." + name; l.ok(at) && to.parsed != nil && to.parsed.Scheme == "http" && !to.Loopback() {
		l.warnf(at, "the token travels in clear; https protects it")
	}
}

// completeAccount checks that a registry has both a user and a password, or neither. It reports whether that is so, and the
// values, with the URL of that name, are as they should be.
func (l *loader) completeAccount(key, url, username string, password Secret) bool {
	if !l.ok(key+".username", key+".password", key+"."+url) {
		return false
	}
	if (username == "") != password.IsZero() {
		l.errorf(key, "needs both username and password, or neither")
		return false
	}
	return true
}

// clearPassword warns if the password of a registry's user is sent without TLS.
func (l *loader) clearPassword(at string, to URL, username string) {
	if username != "" && to.parsed != nil && to.parsed.Scheme == "http" && !to.Loopback() {
		l.warnf(at, "the password travels in clear; https protects it")
	}
}

// dockerDiscovery checks the provider of containers.
func (l *loader) dockerDiscovery(key string, d *Discovery) {
	c := d.Docker
	l.authority(key+".ca_file", c.CAFile)
	l.authority(key+".cert_file", c.CertFile)
	l.keyFile(key+".key_file", c.KeyFile)
	if at := key + ".network"; l.given(at) && l.ok(at) && (c.Network == "" || checkText(c.Network) != nil) {
		l.errorf(at, "%s is not the name of a network", quote(c.Network))
	}
	if (c.CertFile == "") != (c.KeyFile == "") && l.ok(key+".cert_file", key+".key_file") {
		l.errorf(key, "needs both cert_file and key_file, or neither")
	}
	if !l.ok(key + ".host") {
		return
	}
	if c.Host.url == nil || c.Host.url.Scheme != "https" {
		for name, file := range map[string]File{"ca_file": c.CAFile, "cert_file": c.CertFile, "key_file": c.KeyFile} {
			if file != "" && l.ok(key+"."+name) {
				l.errorf(key+"."+name, "is for an https host, got %s", quote(c.Host.raw))
			}
		}
	}
	if u := c.Host.url; u != nil && u.Scheme == "http" && !origin.Loopback(u.Hostname()) {
		l.warnf(key+".host", "without TLS, everyone in the network between can answer for the daemon; use https")
	}
}
