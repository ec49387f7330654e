package source

import (
	"slices"
	"strings"

	"drawbridge/openapi"
)

// maxFormer is the maximum number of operations of one API that are remembered after they have left its document.
const maxFormer = 2000

// FormerOperation is an operation that has left the document, with the data that decided the access to it: an operation
// that returns must not require less.
type FormerOperation struct {
	Operation *openapi.Operation
	// Document holds the schemes and the extensions of the document that had the operation, and nothing else.
	Document *Document
}

// Former returns the operations that have left the document since the process has started, the newest last.
func (s *Source) Former() []FormerOperation { return s.former }

// rememberOperations remembers the operations of a document that the next one lacks, and forgets those that are back.
func (s *Source) rememberOperations(before, next *Document) {
	have := map[string]bool{}
	for _, op := range next.API.Operations {
		have[OperationKey(op)] = true
	}
	s.former = slices.DeleteFunc(slices.Clone(s.former), func(f FormerOperation) bool { return have[OperationKey(f.Operation)] })
	if before == nil {
		return
	}
	light := lightDocument(before)
	for _, op := range before.API.Operations {
		if !have[OperationKey(op)] {
			own := lightOperation(op)
			if set, ok := before.Extensions.Settings[op]; ok {
				light.Extensions.Settings[own] = set
			}
			s.former = append(s.former, FormerOperation{own, light})
		}
	}
	s.former = s.former[max(0, len(s.former)-maxFormer):]
}

// lightDocument returns a document with the security schemes of d. Its texts are copies, which keep nothing of d in memory.
func lightDocument(d *Document) *Document {
	light := &Document{API: &openapi.API{}, Credentials: &Credentials{}, Extensions: newExtensionSettings()}
	for _, s := range d.API.Schemes {
		light.API.Schemes = append(light.API.Schemes, openapi.Scheme{Name: strings.Clone(s.Name), Type: strings.Clone(s.Type)})
	}
	return light
}

// lightOperation returns the part of an operation that decides the access to it.
func lightOperation(op *openapi.Operation) *openapi.Operation {
	own := &openapi.Operation{
		ID: strings.Clone(op.ID), Method: strings.Clone(op.Method), Path: strings.Clone(op.Path), Tags: cloneTexts(op.Tags),
		Deprecated: op.Deprecated, Marks: cloneTexts(op.Marks),
	}
	if op.Base != nil {
		base := *op.Base
		own.Base = &base
	}
	if op.HiddenBy != nil {
		own.HiddenBy = &openapi.Hiding{Text: strings.Clone(op.HiddenBy.Text)}
	}
	for _, alternative := range op.Security {
		requirement := openapi.Requirement{}
		for _, use := range alternative {
			requirement = append(requirement, openapi.SchemeUse{Scheme: strings.Clone(use.Scheme), Scopes: cloneTexts(use.Scopes)})
		}
		own.Security = append(own.Security, requirement)
	}
	return own
}

func cloneTexts(texts []string) (own []string) {
	for _, text := range texts {
		own = append(own, strings.Clone(text))
	}
	return own
}
