package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"drawbridge/openapi/readiness"
)

// fixing are the flags that write an overlay.
type fixing struct {
	file                 string
	force                bool
	model, name, keyFrom string
	endpoint             *url.URL // of the model
	most                 int
	dryRun               bool
}

// overlayResult is what became of an overlay.
type overlayResult struct {
	File    string `json:"file,omitempty"` // "" if nothing was written
	Changes int    `json:"changes"`
	Drafts  int    `json:"drafts"`
	// Score is that of the document with the overlay.
	Score float64 `json:"score"`
	// Refused are reasons why changes and drafts were left out.
	Refused []string `json:"refused,omitempty"`
	// Settings are lines for the configuration, for what an overlay can't say.
	Settings []string `json:"settings,omitempty"`
}

func (f *fixing) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.file, "fix", "", "write an overlay to `FILE`")
	c.Flags().BoolVar(&f.force, "force", false, "replace the file of --fix")
	c.Flags().StringVar(&f.model, "model", "", "base `URL` of an endpoint for chat completions, such as https://models.internal/v1, that drafts what the document does not hold")
	c.Flags().StringVar(&f.name, "model-name", "default", "`NAME` of the model")
	c.Flags().StringVar(&f.keyFrom, "model-key-env", "MODEL_API_KEY", "environment `VARIABLE` that holds the key of the model")
	c.Flags().IntVar(&f.most, "model-requests", 50, "maximum number of requests to the model, each for one operation")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what --model would be sent, and send and write nothing")
}

func (f *fixing) isOn() bool { return f.file != "" || f.dryRun }

func (f *fixing) check(c *cobra.Command) error {
	switch {
	case f.dryRun && f.model == "":
		return errors.New("score: --dry-run shows what --model would be sent; give its URL")
	case f.model != "" && !f.isOn():
		return errors.New("score: --model needs --fix FILE for its drafts, or --dry-run")
	case f.force && f.file == "":
		return errors.New("score: --force replaces the file of --fix, which was not given")
	case f.most < 1:
		return fmt.Errorf("score: --model-requests %d: give a number above 0", f.most)
	}
	if f.model == "" {
		for _, name := range []string{"model-name", "model-key-env", "model-requests"} {
			if c.Flags().Changed(name) {
				return fmt.Errorf("score: --%s is for --model, which was not given", name)
			}
		}
	}
	if f.file != "" && !f.force && !f.dryRun {
		if _, err := os.Lstat(f.file); err == nil {
			return fmt.Errorf("score: %s exists: give --force to replace it, or another file", f.file)
		}
	}
	if f.model == "" {
		return nil
	}
	u, err := url.Parse(f.model)
	switch {
	case err != nil, u.Host == "", u.Scheme != "https" && u.Scheme != "http", u.User != nil, u.RawQuery != "", u.Fragment != "":
		return fmt.Errorf("score: --model must be an http or https URL without user, query and fragment, such as https://models.internal/v1; got %q", shownURL(u, f.model))
	case u.Scheme == "http" && !isThisMachine(u.Hostname()):
		return fmt.Errorf("score: --model %s: parts of the document and the key would be sent in plain text; use https", u.Redacted())
	}
	f.endpoint = u.JoinPath("chat", "completions")
	return nil
}

func isThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// writeOverlay derives the overlay of a document, has drafts made if there is a model, and writes it.
func (s *scoring) writeOverlay(ctx context.Context, of *scored) error {
	fix, err := s.derive(ctx, of)
	if err != nil {
		return err
	}
	of.Overlay = &overlayResult{}
	if s.fix.model != "" {
		drafts, refused, err := s.draft(ctx, fix.After)
		if err != nil {
			return err
		}
		of.Overlay.Refused = refused
		if len(drafts) > 0 {
			if fix, err = of.assessment.Fix(ctx, of.API, of.assessment.Load, drafts); err != nil {
				return fmt.Errorf("score: %w", err)
			}
		}
	}
	of.Overlay.Changes, of.Overlay.Drafts, of.Overlay.Score, of.Overlay.Settings = fix.Changes, fix.Drafts, fix.After.Report.Score, fix.Settings
	of.Overlay.Refused = append(of.Overlay.Refused, fix.Dropped...)
	if fix.Data == nil {
		return nil
	}
	if s.fix.force {
		err = replaceFile(s.fix.file, fix.Data)
	} else {
		err = createFile(s.fix.file, string(fix.Data))
	}
	if err != nil {
		return fmt.Errorf("score: %w", err)
	}
	of.Overlay.File = filepath.ToSlash(s.fix.file)
	return nil
}

// derive derives the overlay without a model.
func (s *scoring) derive(ctx context.Context, of *scored) (*readiness.Fix, error) {
	progress := s.progress("proving the overlay")
	defer progress.Stop()
	fix, err := of.assessment.Fix(ctx, of.API, of.assessment.Load, nil)
	if err != nil {
		return nil, fmt.Errorf("score: %w", err)
	}
	return fix, nil
}

// showRequests prints what a model would be sent.
func (s *scoring) showRequests(ctx context.Context, of *scored) error {
	fix, err := s.derive(ctx, of)
	if err != nil {
		return err
	}
	out := printable{s.stdout}
	requests := fix.After.Requests()
	fmt.Fprintf(out, "%s to %s, each with this text:\n\n", count(min(len(requests), s.fix.most), "request"), s.fix.endpoint)
	for i, r := range requests {
		if i == 0 {
			fmt.Fprintf(out, "%s\n", r.Prompt)
		}
		if i == s.fix.most {
			fmt.Fprintf(out, "\nand %s beyond --model-requests\n", count(len(requests)-i, "operation"))
			break
		}
		fmt.Fprintf(out, "\n%s\n", r.Parts)
	}
	return nil
}
