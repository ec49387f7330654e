package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// sandbox is a folder that is the home, the prefix or the root of one kind.
type sandbox struct{ root string }

func (s *sandbox) path(elements ...string) string {
	return filepath.Join(append([]string{s.root}, elements...)...)
}

// output runs a command in an environment without settings of this machine but PATH, and returns its standard output.
func (s *sandbox) output(ctx context.Context, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = s.root
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.root, "TMPDIR=" + s.root, "LANG=C.UTF-8", "PIP_CONFIG_FILE=/dev/null", "NPM_CONFIG_GLOBALCONFIG=/dev/null"}
	out, err := c.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s %s: %w: %s%s", filepath.Base(name), strings.Join(args, " "), err, out, exit.Stderr)
	}
	return string(out), err
}

// run runs commands one after the other, up to the first that fails.
func (s *sandbox) run(ctx context.Context, commands ...[]string) error {
	for _, c := range commands {
		if _, err := s.output(ctx, c[0], c[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// kinds returns the ways to install, in the order of docs/install.md.
func (r *rehearsal) kinds() []kind {
	pack := func(extension string) string {
		return filepath.Join(r.dir, fmt.Sprintf("drawbridge_%s_%s.%s", r.version, runtime.GOARCH, extension))
	}
	kinds := []kind{
		{name: "install.sh", needs: []string{"sh", "curl"}, install: r.script("files")},
		{name: "install.sh, an archive that was changed", needs: []string{"sh", "curl"}, install: r.script("changed"), refused: "and checksums.txt says"},
		{name: "install.sh, archive and checksums that were changed", needs: []string{"sh", "curl"}, install: r.script("forged"), refused: "is not that of the release's key"},
		{name: "archive", needs: []string{"tar"}, install: func(ctx context.Context, s *sandbox) (string, error) {
			return s.path("drawbridge"), s.run(ctx, []string{"tar", "-xzf", r.archive(), "-C", s.root})
		}},
		{name: "npm", needs: []string{"npm", "node"}, install: r.installNPM},
		{name: "PyPI, by pip", needs: []string{"python3"}, install: r.installPyPI},
		{name: "deb, unpacked by dpkg", needs: []string{"dpkg"}, install: func(ctx context.Context, s *sandbox) (string, error) {
			for _, dir := range []string{"info", "updates", "triggers"} {
				if err := os.MkdirAll(s.path("var/lib/dpkg", dir), 0o755); err != nil {
					return "", err
				}
			}
			if err := os.WriteFile(s.path("var/lib/dpkg/status"), nil, 0o644); err != nil {
				return "", err
			}
			// make package runs its scripts; here they would change this machine.
			return s.path("usr/bin/drawbridge"), s.run(ctx, []string{"dpkg", "--root=" + s.root, "--log=" + s.path("dpkg.log"), "--force-not-root", "--unpack", pack("deb")})
		}},
		{name: "rpm, without scripts", needs: []string{"rpm"}, install: func(ctx context.Context, s *sandbox) (string, error) {
			return s.path("usr/bin/drawbridge"), s.run(ctx, []string{"rpm", "--root", s.root, "--initdb"},
				[]string{"rpm", "--root", s.root, "--noscripts", "--nodeps", "--ignorearch", "-i", pack("rpm")})
		}},
		{name: "apk, without scripts", needs: []string{"apk"}, install: func(ctx context.Context, s *sandbox) (string, error) {
			return s.path("usr/bin/drawbridge"), s.run(ctx, []string{"apk", "--root", s.root, "--initdb", "--no-network", "--allow-untrusted", "--no-scripts", "add", pack("apk")})
		}},
		{name: "apk, unpacked by tar", needs: []string{"tar"}, install: func(ctx context.Context, s *sandbox) (string, error) {
			return s.path("usr/bin/drawbridge"), s.run(ctx, []string{"tar", "-xzf", pack("apk"), "-C", s.root})
		}},
	}
	if _, err := os.Stat(filepath.Join(r.dir, "checksums.txt.sig")); err != nil {
		kinds[2].missing = "the release is not signed"
	}
	return kinds
}

// script installs by install.sh as the page says, from a folder of the server.
func (r *rehearsal) script(folder string) func(context.Context, *sandbox) (string, error) {
	return func(ctx context.Context, s *sandbox) (string, error) {
		url := r.url + "/" + folder
		return s.path("prefix/bin/drawbridge"), s.run(ctx, []string{"sh", "-c",
			`curl -fsS "$1/install.sh" | sh -s -- --version "$2" --prefix "$3" --url "$1"`, "sh", url, r.version, s.path("prefix")})
	}
}

// installNPM installs from the registry, and holds that no program for another platform was.
func (r *rehearsal) installNPM(ctx context.Context, s *sandbox) (string, error) {
	err := s.run(ctx, []string{"npm", "install", "--prefix", s.root, "--registry", r.url + "/npm/", "--cache", s.path("cache"), "--no-audit", "--no-fund", "--no-update-notifier", r.npm + "@" + r.version})
	if err != nil {
		return "", err
	}
	carriers, err := filepath.Glob(s.path("node_modules", filepath.FromSlash(r.npm)+"-*"))
	if err != nil || len(carriers) != 1 {
		return "", fmt.Errorf("expected the package of one platform, found %q: %w", carriers, err)
	}
	return s.path("node_modules/.bin/drawbridge"), nil
}

// installPyPI installs from the index into a virtual environment.
func (r *rehearsal) installPyPI(ctx context.Context, s *sandbox) (string, error) {
	// A version manager's python3 needs the home that it was installed in.
	python, err := exec.CommandContext(ctx, "python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return "", err
	}
	return s.path("venv/bin/drawbridge"), s.run(ctx, []string{strings.TrimSpace(string(python)), "-m", "venv", s.path("venv")},
		[]string{s.path("venv/bin/pip"), "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir", "--pre", "--index-url", r.url + "/pypi/", r.pypi})
}
