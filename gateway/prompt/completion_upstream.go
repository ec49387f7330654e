package prompt

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/call"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// Limits of the calls that supply completion values, which are made while a user types.
const (
	CompletionTimeout  = 2 * time.Second // timeout of one call
	CompletionLifetime = 5 * time.Second // lifetime of cached values, for the same caller and arguments
	maxCompletions     = 1000            // values taken from one response
	maxCompletion      = 200             // bytes of one value
	maxKeptAnswers     = 1000
	maxKeptValues      = 4 << 20 // bytes of all cached values
	stringSize         = 16      // bytes of a string header
	maxKeptArgument    = 4 << 10 // bytes of the arguments of a call
)

// valuesFor returns the values that the call of an argument supplies, from the cache if they are recent. Any failure yields no
// values, because a user who is typing can't act on it.
func (x *Completer) valuesFor(ctx context.Context, inv call.Invocation, a *promptArgument, asked mcp.Completion) []string {
	nothing := func(err error) []string {
		x.Log.LogAttrs(ctx, slog.LevelDebug, "no completion values for an argument", slog.String("prompt", asked.Prompt),
			slog.String("argument", a.Name), slog.String("tool", a.plan.Tool.Name), slog.Any("error", err))
		return nil
	}
	if x.Calls.Authorize(ctx, &inv) != nil {
		return nothing(errors.New("the caller may not call the tool"))
	}
	value := func(name string) (string, bool) {
		if name == config.TypedPlace {
			return asked.Value, true
		}
		text, ok := asked.Arguments[name]
		return text, ok
	}
	size := 0
	for _, argument := range a.Complete.Arguments {
		size += argument.Size(value)
	}
	if size > maxKeptArgument {
		return nothing(errors.New("the arguments are too long"))
	}
	inv.Origin, inv.Arguments = call.FromCompletion, appendArguments(nil, a.Complete.Arguments, value)
	inv.Policy = call.Policy{Response: call.Whole, Report: call.Counted}
	caller := ctx
	ctx, cancel := call.WithCancelAfter(caller, CompletionTimeout)
	defer cancel()
	// The cache entry may be of another caller or of a permission since withdrawn, so permission is checked each time.
	inv, err := x.Calls.Prepare(ctx, inv)
	if err != nil {
		return nothing(err)
	}
	key := completionKey(&inv, a)
	if values, ok := x.Cache.get(key, time.Now()); ok {
		return values
	}
	out, err := x.Calls.Invoke(ctx, inv)
	if out != nil {
		defer out.Close()
	}
	switch {
	case caller.Err() != nil:
		return nothing(caller.Err())
	case err != nil: // the call was not made
		return nothing(err)
	}
	values := valuesIn(out.Parts, a.Complete.Values.String())
	x.Cache.put(key, values, time.Now())
	if out.Failure != nil {
		return nothing(out.Failure)
	}
	return values
}

// completionKey returns a key of everything that the values depend on: the caller, its token (since the service may see another
// caller in each), the tool, the arguments, and the headers that are forwarded to the service.
func completionKey(inv *call.Invocation, a *promptArgument) string {
	var b strings.Builder
	token := sha256.Sum256([]byte(strings.Join(append(inv.Caller.Header.Values("Authorization"), inv.Caller.Header.Values(auth.APIKeyHeader)...), "\x00")))
	for _, part := range []string{inv.Caller.ID, string(token[:]), inv.Plan().Tool.Name, a.Complete.Values.String(), string(inv.Arguments)} {
		b.WriteString(part)
		b.WriteByte(0)
	}
	if inv.Plan().PassesHeaders {
		headers := call.HeaderDigest(inv.Plan().PassedHeaders(inv.Caller.Header))
		b.Write(headers[:])
	}
	return b.String()
}

// valuesIn returns the values in a response.
func valuesIn(parts []answer.Part, pointer string) (values []string) {
	for _, part := range parts {
		if part.Kind != answer.JSON && part.Kind != answer.Text {
			continue
		}
		if _, err := jsonscan.Scan(part.Data, jsonscan.Options{}); err != nil {
			continue // plain text
		}
		known := map[string]bool{}
		for _, value := range values {
			known[value] = true
		}
		collectValues(part.Data, pointer, func(value []byte) bool {
			if text, ok := openapi.PlainText(value); ok && text != "" && len(text) <= maxCompletion && !known[text] {
				known[text] = true
				values = append(values, strings.Clone(text))
			}
			return len(values) < maxCompletions
		})
	}
	return values
}

// collectValues calls found with each value that a pointer selects, in which * stands for each item or member. It stops and
// returns false as soon as found returns false.
func collectValues(data []byte, pointer string, found func(value []byte) bool) bool {
	before, after, each := strings.Cut(pointer+"/", "/*/")
	if !each {
		if value := jsonscan.At(data, pointer); value != nil {
			return found(value)
		}
		return true
	}
	rest := strings.TrimSuffix("/"+after, "/")
	list := jsonscan.At(data, before)
	switch jsonscan.KindOf(list) {
	case jsonscan.Array:
		for item := range jsonscan.Elements(list) {
			if !collectValues(item, rest, found) {
				return false
			}
		}
	case jsonscan.Object:
		for _, item := range jsonscan.Members(list) {
			if !collectValues(item, rest, found) {
				return false
			}
		}
	case jsonscan.Null, jsonscan.Bool, jsonscan.Number, jsonscan.String:
	}
	return true
}

// CompletionCache caches the values of calls for a few seconds, so that typing doesn't send a request to the service for each key.
// It is safe for concurrent use; its zero value is empty.
type CompletionCache struct {
	mu   sync.Mutex
	kept map[string]keptCompletion
	size int // of all entries
}

type keptCompletion struct {
	values []string
	until  time.Time
	size   int // with its key, in bytes
}

func (c *CompletionCache) get(key string, now time.Time) ([]string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, ok := c.kept[key]
	if !ok || !now.Before(kept.until) {
		return nil, false
	}
	return kept.values, true
}

// put caches values, which must not be changed afterwards. It evicts expired entries and, if there are still too many,
// arbitrary ones.
func (c *CompletionCache) put(key string, values []string, now time.Time) {
	if len(key) > 4*maxKeptArgument { // large because of forwarded headers
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[string]keptCompletion{}
	}
	added := keptCompletion{values: values, until: now.Add(CompletionLifetime), size: len(key)}
	for _, value := range values {
		added.size += stringSize + len(value)
	}
	c.drop(key)
	for other, kept := range c.kept {
		if !now.Before(kept.until) {
			c.drop(other)
		}
	}
	for other := range c.kept {
		if len(c.kept) < maxKeptAnswers && c.size+added.size <= maxKeptValues {
			break
		}
		c.drop(other)
	}
	c.kept[key] = added
	c.size += added.size
}

// drop removes an entry. The caller holds the lock.
func (c *CompletionCache) drop(key string) {
	c.size -= c.kept[key].size
	delete(c.kept, key)
}
