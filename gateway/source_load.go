package gateway

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/diskcache"
	"drawbridge/openapi"
	"drawbridge/openapi/fetch"
)

// load reads and compiles the document. The error is [fetch.ErrUnchanged] if the document still matches previous. kept
// is the text for the last-known-good store; nil if there is none. load returns whatever the document contains (S4).
func (s *source) load(ctx context.Context, previous *fetch.Stamp) (l *loaded, kept *fetch.Copy, err error) {
	defer s.recovered(&l, &err)
	o := s.loadOptions(s.pace)
	o.Previous, o.Keep = previous, s.storeID != ""
	doc, leave, err := s.read(ctx, o)
	defer leave()
	if errors.Is(err, fetch.ErrProtected) && s.attached.anonymous {
		err = fmt.Errorf("%w of its own, spec_credential: that of type token_exchange needs a caller, and a document is fetched for nobody", err)
	}
	if err != nil {
		return nil, nil, err
	}
	l, err = s.compile(ctx, doc, s.pace)
	return l, doc.Copy, err
}

// smallText is the maximum size, in bytes, of a document that is read without a slot of admission.largeTexts.
const smallText = 1 << 20

// read reads the document. A large one needs a slot of admission.largeTexts, which leave releases when the text is no
// longer needed. The size is only known from the bytes, so a large document is fetched again once it has a slot.
func (s *source) read(ctx context.Context, o openapi.LoadOptions) (doc *openapi.Document, leave func(), err error) {
	leave = func() {}
	if s.g.admission.largeTexts == nil {
		doc, err = openapi.Load(ctx, s.config.Spec.String(), o)
		return doc, leave, err
	}
	if !s.large.Load() {
		small := o
		small.Small = smallText
		if doc, err = openapi.Load(ctx, s.config.Spec.String(), small); !errors.Is(err, fetch.ErrLarge) {
			return doc, leave, err
		}
		s.large.Store(true)
	}
	select {
	case s.g.admission.largeTexts <- struct{}{}:
	case <-ctx.Done():
		return nil, leave, context.Cause(ctx)
	}
	leave = func() { <-s.g.admission.largeTexts }
	doc, err = openapi.Load(ctx, s.config.Spec.String(), o)
	return doc, leave, err
}

// restore compiles a document from the last-known-good store, under the same rules and limits as load.
func (s *source) restore(ctx context.Context, doc *diskcache.Document) (l *loaded, err error) {
	defer s.recovered(&l, &err)
	pace := s.g.admission.pace.Part() // load may run at the same time
	read, err := openapi.LoadCopy(ctx, s.config.Spec.String(), doc.Copy, s.loadOptions(pace))
	if err != nil {
		return nil, err
	}
	if l, err = s.compile(ctx, read, pace); err != nil {
		return nil, err
	}
	l.at, l.kept = doc.Head.Read, true
	return l, nil
}

// recovered is deferred by functions that read documents: it turns a panic into an error and redacts secrets in errors.
func (s *source) recovered(l **loaded, err *error) {
	if v := recover(); v != nil {
		s.g.metrics.Panics.Inc()
		s.g.log.Error("panic while a document was read", "api", s.label, "panic", v, "stack", string(debug.Stack()))
		*l, *err = nil, errors.New("internal error while the document was read; the log has the cause")
	}
	*err = s.secrets.OperatorError(*err)
}

func (s *source) loadOptions(pace *openapi.Pace) openapi.LoadOptions {
	o := openapi.LoadOptions{Limits: openapi.Limits{Pace: pace, Memory: s.g.admission.maxDocument, Bytes: int64(s.limits.MaxSpec), Operations: s.limits.MaxOperations}, Timeout: time.Duration(s.config.SpecTimeout), Root: s.config.Root.String()}
	if s.documents != nil {
		o.Client = s.documents.Documents()
	}
	if s.refs != nil {
		o.RefClient = s.refs.Documents()
		for _, origin := range s.config.AllowRefs {
			o.AllowRefs = append(o.AllowRefs, origin.String())
		}
	}
	return o
}

func (s *source) compile(ctx context.Context, doc *openapi.Document, pace *openapi.Pace) (*loaded, error) {
	c := openapi.CompileOptions{
		MaxOperations: s.limits.MaxOperations, MaxSchema: int(s.limits.MaxSchema), Reserved: reserved(s.config),
		ServerVariables: s.config.ServerVariables, SlashParameters: slashParameters(s.config.SlashParameters),
		MaxDepth: s.limits.MaxDepth - argumentsDepth, Pace: pace,
	}
	if s.config.TrustExtensions {
		c.Extensions, c.ExtensionPrefix = config.Extensions(), config.ExtensionPrefix
	}
	if s.config.SchemaProfile == config.ProfilePortable {
		c.Profile = openapi.ProfilePortable
	}
	if s.config.BaseURL != nil {
		c.BaseURL = s.config.BaseURL.URL()
	}
	for _, origin := range s.config.AllowServers {
		c.AllowServers = append(c.AllowServers, origin.String())
	}
	if s.config.OutputSchemas == config.OutputOff || s.config.Answers == config.AnswersText {
		c.Output = openapi.OutputOff
	}
	c.ReadableHTML = s.config.HTML == config.HTMLText
	budget := s.g.admission.documents
	c.MaxSize = budget.Left(s)
	api, err := doc.Compile(ctx, c)
	if errors.Is(err, openapi.ErrLargeAPI) || err == nil && !budget.Take(s, api) {
		return nil, budget.TooLarge(s, c.MaxSize)
	}
	if err != nil {
		return nil, err
	}
	client := s.callClient(s.nameFor(doc.Title), api)
	l := &loaded{title: doc.Title, version: doc.Version, standard: doc.Standard, stamp: doc.Stamp, api: api, client: client, choices: s.choose(api), extended: newExtended(api), at: time.Now()}
	if s.g.o.Advise {
		l.advice = doc.Report(ctx)
	}
	return l, nil
}

// slashParameters converts the configured path parameters that may contain slashes.
func slashParameters(list []config.SlashParameter) (out []openapi.SlashParameter) {
	for _, p := range list {
		out = append(out, openapi.SlashParameter{Name: p.Name, Encoded: p.As == config.SlashEncoded})
	}
	return out
}
