package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"
)

// Limits on a condition (Z7). The deadline is checked within loops only, so that a condition
// without loops never fails because the machine is busy.
const (
	maxCondition      = 4 << 10 // bytes
	maxConditionDepth = 64
	maxConditionNodes = 20_000   // values in arguments and in claims, each
	maxConditionText  = 16 << 10 // bytes of a string in them that a condition may process
	conditionCost     = 100_000
	conditionTime     = 5 * time.Millisecond
	conditionCheck    = 64 // iterations between two checks of the deadline
)

// ConditionTool describes the called tool to a condition.
type ConditionTool struct {
	// Name is the name of the tool, API the name of its API in the configuration.
	Name, API string
	// Method and Path are those of the operation; Path is a template.
	Method, Path string
}

// Condition is a compiled expression of the Common Expression Language that decides by caller, tool
// and arguments whether a call is allowed. It is safe for concurrent use, and sees nothing but its
// variables. An API key has no claims, so each use of them denies its call, has(claims.x) included:
//
//	claims               map: the claims of the token, unchanged; needs Options.KeepClaims
//	principal.issuer     string: "iss"
//	principal.subject    string: "sub"; empty if the token has none
//	principal.client_id  string: the client; empty if the token has none
//	principal.scopes     list of strings: the granted scopes
//	principal.groups     list of strings: the groups of an API key; empty for a token, whose groups are claims
//	tool.name, tool.api, tool.method, tool.path   strings
//	args                 map: the arguments of the call
//
// A string of more than 16 KiB in claims or args can be compared and measured; any other use of its
// value denies the call, as does the use of a number beyond 1e308. The pattern of matches must be a
// literal. Whole numbers in claims and args are int where they fit, else double; numbers of
// different types compare by value.
type Condition struct {
	program  cel.Program
	usesArgs bool // the expression uses args
	// arguments are the arguments that the expression names, and namesAll reports whether it uses no others.
	arguments []string
	namesAll  bool
}

// Arguments returns the arguments that the expression names, as args.name or args["name"], sorted.
func (c *Condition) Arguments() []string { return c.arguments }

// NamesArguments reports whether [Condition.Arguments] are all arguments that the expression can depend on: it uses args in no other way.
func (c *Condition) NamesArguments() bool { return c.namesAll }

// NewCondition compiles an expression. The error names each problem with line and column, both from
// 1.
func NewCondition(expr string) (*Condition, error) {
	if len(expr) > maxCondition {
		return nil, fmt.Errorf("condition has more than %d bytes", maxCondition)
	}
	env, err := cel.NewEnv(
		cel.Variable("claims", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("principal.issuer", cel.StringType),
		cel.Variable("principal.subject", cel.StringType),
		cel.Variable("principal.client_id", cel.StringType),
		cel.Variable("principal.scopes", cel.ListType(cel.StringType)),
		cel.Variable("principal.groups", cel.ListType(cel.StringType)),
		cel.Variable("tool.name", cel.StringType),
		cel.Variable("tool.api", cel.StringType),
		cel.Variable("tool.method", cel.StringType),
		cel.Variable("tool.path", cel.StringType),
		cel.Variable("args", cel.DynType),
		cel.CrossTypeNumericComparisons(true),
		cel.ParserRecursionLimit(maxConditionDepth),
		cel.ParserExpressionSizeLimit(maxCondition),
	)
	if err != nil {
		return nil, fmt.Errorf("condition: %w", err)
	}
	tree, issues := env.Compile(expr)
	if issues.Err() != nil {
		var problems []error
		for _, p := range issues.Errors() {
			problems = append(problems, fmt.Errorf("condition: %d:%d: %s", max(1, p.Location.Line()), max(1, p.Location.Column()+1), firstLine(p.Message)))
		}
		return nil, errors.Join(problems...)
	}
	if err := checkPatterns(tree.NativeRep()); err != nil {
		return nil, err
	}
	if t := tree.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("condition: 1:1: it is of type %s, not bool", t)
	}
	program, err := env.Program(tree,
		cel.EvalOptions(cel.OptOptimize),
		cel.CostLimit(conditionCost),
		cel.InterruptCheckFrequency(conditionCheck))
	if err != nil {
		return nil, fmt.Errorf("condition: %w", err)
	}
	c := &Condition{program: program}
	uses, named := 0, 0
	ast.PostOrderVisit(tree.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if isArgs(e) {
			c.usesArgs = true
			uses++
		}
		if name := argumentOf(e); name != "" {
			c.arguments = append(c.arguments, name)
			named++
		}
	}))
	c.namesAll = uses == named
	slices.Sort(c.arguments)
	c.arguments = slices.Compact(c.arguments)
	return c, nil
}

func isArgs(e ast.Expr) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == "args" }

// argumentOf returns the name of the argument that an expression selects: args.name, has(args.name), args["name"], "name"
// in args; "" if it is another expression.
func argumentOf(e ast.Expr) string {
	literal := func(e ast.Expr) string {
		if e.Kind() != ast.LiteralKind {
			return ""
		}
		text, _ := e.AsLiteral().Value().(string)
		return text
	}
	switch {
	case e.Kind() == ast.SelectKind && isArgs(e.AsSelect().Operand()):
		return e.AsSelect().FieldName()
	case e.Kind() == ast.CallKind && len(e.AsCall().Args()) == 2:
		a, b := e.AsCall().Args()[0], e.AsCall().Args()[1]
		switch {
		case isArgs(a):
			return literal(b)
		case isArgs(b):
			return literal(a)
		}
	}
	return ""
}

// checkPatterns requires every pattern to be a literal: a pattern from a caller or a token may take
// seconds, and its cost is known only afterwards (Z7).
func checkPatterns(tree *ast.AST) error {
	var problems []error
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "matches" {
			return
		}
		list := e.AsCall().Args()
		if pattern := list[len(list)-1]; pattern.Kind() != ast.LiteralKind {
			at := tree.SourceInfo().GetStartLocation(pattern.ID())
			problems = append(problems, fmt.Errorf("condition: %d:%d: the pattern of matches must be a text that stands here", max(1, at.Line()), max(1, at.Column()+1)))
		}
	}))
	return errors.Join(problems...)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// ConditionError is the reason that a condition could not be evaluated. It holds nothing of claims
// and arguments.
type ConditionError struct{ reason string }

// Error implements error.
func (e *ConditionError) Error() string { return "condition: " + e.reason }

// Allows evaluates the condition. It denies unless the result is true: a missing claim or argument,
// a value of another type, too much work or arguments that are not JSON deny, and the error gives
// the reason (Z7). args must be exactly the arguments of the call, nil if it has none.
func (c *Condition) Allows(ctx context.Context, p *Principal, tool ConditionTool, args json.RawMessage) (bool, error) {
	if p == nil {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, conditionTime)
	defer cancel()
	v := &variables{principal: p, tool: tool, args: map[string]any{}}
	if c.usesArgs && len(args) > 0 {
		var err error
		if v.args, err = decodeArguments(ctx, args); err != nil {
			return false, err
		}
	}
	out, _, err := c.program.ContextEval(ctx, v)
	if err != nil {
		return false, &ConditionError{conditionReason(err)}
	}
	allowed, ok := out.(types.Bool)
	if !ok {
		return false, &ConditionError{"the result is no bool"}
	}
	return bool(allowed), nil
}

// conditionReason maps an error of the evaluator, whose text may hold values, to one of a closed
// set of reasons.
func conditionReason(err error) string {
	var canceled interpreter.EvalCancelledError
	var interrupted interpreter.InterruptError
	switch {
	case errors.As(err, &canceled):
		if canceled.Cause == interpreter.CostLimitExceeded {
			return "it costs too much"
		}
		return "it takes too long"
	case errors.As(err, &interrupted), errors.Is(err, context.DeadlineExceeded):
		return "it takes too long"
	case strings.HasPrefix(err.Error(), tooLong):
		return "it needs a value that is too long"
	case strings.HasPrefix(err.Error(), tooLarge):
		return "it needs a number that is too large"
	case strings.HasPrefix(err.Error(), "no such key"), strings.HasPrefix(err.Error(), "no such attribute"):
		return "it needs a value that is not there"
	case strings.HasPrefix(err.Error(), "no such overload"):
		return "a value is of another type than it needs"
	}
	return "it can't be evaluated"
}

// variables resolves the variables of an expression.
type variables struct {
	principal *Principal
	tool      ConditionTool
	args      any
}

// Parent implements [interpreter.Activation].
func (*variables) Parent() interpreter.Activation { return nil }

// ResolveName implements [interpreter.Activation].
func (v *variables) ResolveName(name string) (any, bool) {
	switch name {
	case "claims":
		if v.principal.Credential == CredentialAPIKey {
			return nil, false
		}
		if v.principal.claims == nil {
			return map[string]any{}, true
		}
		claims := v.principal.claims.decode()
		return claims, claims != nil
	case "principal.issuer":
		return v.principal.Issuer, true
	case "principal.subject":
		return v.principal.Subject, true
	case "principal.client_id":
		return v.principal.ClientID, true
	case "principal.scopes":
		return v.principal.Scopes, true
	case "principal.groups":
		return v.principal.Groups, true
	case "tool.name":
		return v.tool.Name, true
	case "tool.api":
		return v.tool.API, true
	case "tool.method":
		return v.tool.Method, true
	case "tool.path":
		return v.tool.Path, true
	case "args":
		return v.args, true
	}
	return nil, false
}
