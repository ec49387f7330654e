package config

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"io"
	"reflect"
	"slices"
	"strconv"
)

// Fingerprint names values by all that they hold, the same in each process: what two replicas keep for an API is only then the same if
// they have it configured alike. It is a digest of secrets too, and must not be shown as it is.
func Fingerprint(values ...any) string {
	h := sha256.New()
	for _, v := range values {
		digestValue(h, reflect.ValueOf(v))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// Hash returns a number of 48 bits that is the same for replicas which the configuration makes behave alike. It leaves out the keys that
// differ between replicas of one installation, such as addresses to listen at and paths of files that each replica owns, the keys for
// operators (admin, telemetry), and services that a registry has added. sealKeys, which replicas share, too, also keep secrets from being
// guessed by the number, so it may be shown. A float64 holds it exactly.
func (c *Config) Hash(sealKeys [][]byte) uint64 {
	c = c.WithoutServices()
	server := c.Server
	server.Listen, server.TLS, server.StateDir, server.SealKeys, server.SealKeyFile = "", nil, "", nil, ""
	var audit Audit
	if c.Audit != nil {
		audit = *c.Audit
		audit.File = ""
	}
	sum := sha256.Sum256([]byte(Fingerprint(sealKeys, server, c.Auth, c.Identity, c.APIs, c.Discovery, c.Tools, c.Search, c.Rules, c.Endpoints, c.Prompts,
		c.Limits, c.State, c.Proxy, c.Audit != nil, audit)))
	return binary.BigEndian.Uint64(sum[:8]) >> 16
}

// digestValue writes a value with what tells it from all others of its type. Configurations are trees: there is no cycle.
func digestValue(h hash.Hash, v reflect.Value) {
	text := func(parts ...string) {
		for _, part := range parts {
			_, _ = io.WriteString(h, strconv.Itoa(len(part))+":"+part) // a hash takes all
		}
	}
	switch v.Kind() {
	case reflect.Invalid:
		text("nothing")
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			text("nil")
			return
		}
		text("to", v.Elem().Type().String())
		digestValue(h, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			digestValue(h, v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		text(strconv.Itoa(v.Len()))
		for i := range v.Len() {
			digestValue(h, v.Index(i))
		}
	case reflect.Map:
		text(strconv.Itoa(v.Len()))
		sums := make([]string, 0, v.Len())
		for all := v.MapRange(); all.Next(); {
			one := sha256.New()
			digestValue(one, all.Key())
			digestValue(one, all.Value())
			sums = append(sums, string(one.Sum(nil)))
		}
		slices.Sort(sums)
		text(sums...)
	case reflect.String:
		text(v.String())
	case reflect.Bool:
		text(strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		text(strconv.FormatInt(v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		text(strconv.FormatUint(v.Uint(), 10))
	case reflect.Float32, reflect.Float64:
		text(strconv.FormatFloat(v.Float(), 'g', -1, 64))
	case reflect.Complex64, reflect.Complex128, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		text("none") // no configuration has one
	}
}
