package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// State is what outlives a call, and what replicas share.
type State struct {
	// The Redis or Valkey that replicas share. It needs server.seal_keys.
	Redis *Redis `yaml:"redis,omitempty" absent:"no shared state" access:"joint: destination"`
	// Uses that are rejected while Redis is unreachable, instead of being handled per replica: rates (rate limits),
	// replays (DPoP proofs), consents (calls that need the user's answers).
	Closed []SharedUse `yaml:"closed,omitempty" absent:"nothing" access:"joint: closed"`
}

// Redis is a Redis, or what speaks its protocol, that replicas share.
type Redis struct {
	// redis://HOST:PORT/DB, rediss://HOST:PORT/DB with TLS, or unix:///PATH?db=DB. It may contain user and password.
	URL RedisURL `yaml:"url" required:"true" access:"joint: destination"`
	// The user in the access control lists of Redis.
	User string `yaml:"user,omitempty" absent:"that of the URL, else the default user" access:"none: how the gateway authenticates to Redis"`
	// The password of that user.
	Password Secret `yaml:"password,omitempty" absent:"that of the URL, else none" access:"none: secrets and keys are rotated"`
	// PEM certificates that are trusted for Redis instead of the system's. Needs rediss.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates" access:"joint: destination"`
	// The prefix of keys and channels: letters, digits, _, - and ., at most 40. Gateways that share a Redis need
	// different ones.
	Prefix string `yaml:"prefix" default:"drawbridge" access:"joint: destination"`
	// The maximum time that a call waits for Redis, before it continues without.
	Timeout Duration `yaml:"timeout" default:"20ms" min:"1ms" max:"1s" access:"none: limits bound the cost of a call"`
	// Shares cached responses with other replicas, for at most an hour and up to 256 KiB each.
	Answers bool `yaml:"answers" default:"false" access:"joint: destination"`
	// The maximum number of connections to Redis.
	Connections int `yaml:"connections" default:"32" min:"1" max:"10000" access:"none: limits bound the cost of a call"`
}

// SharedUse is something that replicas share.
type SharedUse string

// The values of [SharedUse].
const (
	SharedRates    SharedUse = "rates"
	SharedReplays  SharedUse = "replays"
	SharedConsents SharedUse = "consents"
)

func (SharedUse) values() []string { return []string{"rates", "replays", "consents"} }

// RedisURL says where a Redis is. It prints without user and password, with every verb of package fmt.
type RedisURL struct {
	// A pointer, for the reason that Secret has one.
	at *redisPlace
}

type redisPlace struct {
	scheme, address string
	db              int
	user, password  string
	hasPassword     bool
}

// String returns the URL without user and password.
func (u RedisURL) String() string {
	switch {
	case u.at == nil:
		return ""
	case u.at.scheme == "unix":
		return fmt.Sprintf("unix://%s?db=%d", u.at.address, u.at.db)
	}
	return fmt.Sprintf("%s://%s/%d", u.at.scheme, u.at.address, u.at.db)
}

// Format implements [fmt.Formatter] so that no verb prints the password.
func (u RedisURL) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(u.String())) }

// MarshalText implements [encoding.TextMarshaler], without user and password.
func (u RedisURL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// LogValue implements [slog.LogValuer].
func (u RedisURL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// Network returns "tcp" or "unix".
func (u RedisURL) Network() string {
	if u.at.scheme == "unix" {
		return "unix"
	}
	return "tcp"
}

// Address returns host:port, or the path of a socket.
func (u RedisURL) Address() string { return u.at.address }

// Host returns the host without the port; "" for a socket.
func (u RedisURL) Host() string {
	if u.Network() == "unix" {
		return ""
	}
	host, _, _ := net.SplitHostPort(u.at.address)
	return host
}

// DB returns the number of the database.
func (u RedisURL) DB() int { return u.at.db }

// TLS reports whether the connection is protected.
func (u RedisURL) TLS() bool { return u.at.scheme == "rediss" }

// Reveal returns the user and password of the URL. Every call is a place where a secret can leak.
func (u RedisURL) Reveal() (user, password string) { return u.at.user, u.at.password }

func (u RedisURL) hasPassword() bool { return u.at != nil && u.at.hasPassword }

var errRedisURL = errors.New("must be redis://HOST:PORT/DB, rediss://HOST:PORT/DB or unix:///PATH?db=DB")

func (u *RedisURL) parse(text string) error {
	parsed, err := url.Parse(text)
	if err != nil || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return errors.New("is not a URL; in a password, characters other than letters, digits, _, -, . and ~ are written as %XX, or it is given as password")
	}
	at := &redisPlace{scheme: parsed.Scheme}
	db := strings.TrimPrefix(parsed.Path, "/")
	switch {
	case parsed.Opaque != "" || parsed.Fragment != "":
		return errRedisURL
	case parsed.Scheme == "unix":
		query := parsed.Query()
		if parsed.Host != "" || len(parsed.Path) < 2 || len(query) > 1 || len(query) == 1 && !query.Has("db") {
			return errRedisURL
		}
		at.address, db = parsed.Path, query.Get("db")
	case parsed.Scheme != "redis" && parsed.Scheme != "rediss", parsed.Hostname() == "", parsed.RawQuery != "", !goodPort(parsed.Port()):
		return errRedisURL
	default:
		port := parsed.Port()
		if port == "" {
			port = "6379"
		}
		at.address = net.JoinHostPort(parsed.Hostname(), port)
	}
	if db != "" {
		n, err := strconv.ParseUint(db, 10, 16)
		if err != nil {
			return errors.New("has a bad database: it is a number")
		}
		at.db = int(n)
	}
	if parsed.User != nil {
		at.user = parsed.User.Username()
		at.password, at.hasPassword = parsed.User.Password()
	}
	u.at = at
	return nil
}

// passwordInClear reports whether the text of a URL in the file holds the password itself, and no reference to it.
func passwordInClear(text string) bool {
	user, _, ok := strings.Cut(text, "@")
	return ok && !strings.Contains(user, "${")
}
