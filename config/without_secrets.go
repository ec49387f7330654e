package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// LoadWithoutSecrets is [Load] for a check where secrets are not at hand, such as that of a change in review. A variable that
// is not set, and a secret file, key file or certificate that can't be read, is a warning, once. Whatever depends on it is
// not checked, and the Config must not be served: placeholders stand in it. What would make use of one at load is left out.
// Locations of documents are needed all the same.
func LoadWithoutSecrets(location string, getenv func(string) string) (*Config, Problems) {
	if isURL(location) || isDirectory(location) {
		return Bare(location)
	}
	return loadFrom(location, true, &loader{getenv: getenv, withoutSecrets: true})
}

// placeholder stands for a missing value. It is as long as the longest minimum of a secret.
const placeholder = "unset-unset-unset-unset-unset-unset"

// placeholderURL stands for a missing value where a URL is expected; the name has no address (RFC 6761 section 6.4).
const placeholderURL = "https://unset.invalid"

// missing is a reference whose value is not at hand.
type missing struct {
	reference string // as it is shown
	reason    error
}

// missing returns what stands for the value of a reference.
func (e *expansion) missing(reference string, reason error) string {
	e.unset = append(e.unset, missing{reference, reason})
	return placeholder
}

// note warns of what is missing, unless that was noted, and has nothing that depends on the key checked.
func (l *loader) note(key string, all ...missing) {
	for _, m := range all {
		if l.unset == nil {
			l.unset, l.noted = map[string]bool{}, map[string]bool{}
		}
		l.unset[key] = true
		if !l.noted[m.reference] {
			l.noted[m.reference] = true
			l.warnf(key, "%s: %s; what depends on it is not checked", m.reference, m.reason)
		}
	}
}

// secretMissing notes a file that can't be read, if that is not an error.
func (l *loader) secretMissing(key string, file File) bool {
	if !l.withoutSecrets {
		return false
	}
	_, _, err := readRegular(string(file))
	if err != nil {
		l.note(key, missing{strconv.Quote(string(file)), fmt.Errorf("can't be read: %w", err)})
	}
	return err != nil
}

// Unset reports whether the credential has a placeholder in place of a value: see [LoadWithoutSecrets].
func (c *Credential) Unset() bool { return c.unset }

// standIn gives a value with missing references its text with placeholders, else a URL, else what it has without the key.
func (l *loader) standIn(v reflect.Value, key string, f field, e expansion) {
	if _, document := v.Interface().(Location); document {
		for _, m := range e.unset {
			l.errorf(key, "%s: %s; without it the document can't be found", m.reference, m.reason)
		}
		return
	}
	l.note(key, e.unset...)
	for _, text := range []string{e.text, placeholderURL} {
		if parseInto(v, text) == nil && bounds(v, f) {
			if file, ok := v.Addr().Interface().(resolver); ok {
				file.resolve(l.dir)
			}
			return
		}
	}
	v.SetZero()
	l.preset(f, v)
}

// unsetBelow reports whether a value at or below a key is missing.
func (l *loader) unsetBelow(key string) bool {
	for k := range l.unset {
		if k == key || strings.HasPrefix(k, key+".") || strings.HasPrefix(k, key+"[") {
			return true
		}
	}
	return false
}

// dropUnset leaves out of a configuration what would make use of a missing value before a call: placeholders are sent nowhere.
func (l *loader) dropUnset(cfg *Config) {
	if !l.withoutSecrets {
		return
	}
	cfg.Server.SealKeyFile = "" // it would be made
	for i := range cfg.APIs {
		api, key := &cfg.APIs[i], fmt.Sprintf("apis[%d]", i)
		keys, all := api.AllCredentials()
		for n, c := range all {
			at := key + "." + keys[n]
			if l.unset[at+".key_file"] || l.unset[at+".cert_file"] {
				*c = Credential{Type: CredentialBearer, Token: NewSecret(placeholder)}
			}
			c.unset = l.unsetBelow(at)
		}
		if l.unsetBelow(key + ".client_certificate") {
			api.ClientCertificate = nil
		}
	}
	if l.unsetBelow("identity") {
		cfg.Identity = nil
		for i := range cfg.APIs {
			cfg.APIs[i].Identity = nil
		}
	}
	if l.unsetBelow("state") {
		cfg.State.Redis = nil
	}
	if l.unsetBelow("search") {
		cfg.Search = nil
	}
}
