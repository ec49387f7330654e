// Command tty runs the gateway's program in terminals, those of tmux, and compares the screens with those in testdata.
//
// A session is a txtar file: its comment says what it shows, "-- script --" has one step a line, "-- screen NAME --" is a screen, and
// other files are written into the working directory. The steps are
//
//	size W H          the terminal, before all else; 100 by 60 if it is not given
//	type TEXT         types a line and Enter
//	key KEY           presses a key as tmux names it, such as C-c
//	wait TEXT         waits until the screen has the text
//	prompt            waits until the shell does
//	clear             empties the screen
//	call TOOL         calls a tool of the gateway that listens at $LISTEN, and waits until the service has got the call
//	release           lets the service answer what it holds back, those calls and /slow.yaml
//	screen NAME       compares the screen
//
// $SERVICE, $ADDRESS (the same without a scheme), $LISTEN and $ADMIN stand for the addresses of the sample service and of the gateway's listeners.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"
)

// absent is the exit code where nothing could be run (.ci/run).
const absent = 75

func main() {
	gateway := flag.String("gateway", "out/tty/drawbridge", "the program, which must be named drawbridge")
	update := flag.Bool("update", false, "write the screens into the files")
	only := flag.String("only", "", "run the sessions whose name contains this")
	flag.Parse()
	if _, err := exec.LookPath("tmux"); err != nil {
		fmt.Println("not run: terminal sessions: tmux is not installed")
		os.Exit(absent)
	}
	if err := runAll(*gateway, *only, *update); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runAll(gateway, only string, update bool) error {
	program, err := filepath.Abs(gateway)
	if err != nil {
		return err
	}
	files, err := filepath.Glob("test/tty/testdata/*.txtar")
	if err != nil {
		return err
	}
	ran := 0
	var failed []error
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		if !strings.Contains(name, only) {
			continue
		}
		ran++
		archive, err := txtar.ParseFile(file)
		if err != nil {
			return err
		}
		screens, err := runSession(program, archive)
		if update {
			err = errors.Join(err, os.WriteFile(file, txtar.Format(withScreens(archive, screens)), 0o600))
		} else {
			err = errors.Join(err, compare(archive, screens))
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
			continue
		}
		fmt.Printf("%-16s %d screens\n", name, len(screens))
	}
	if ran == 0 {
		return errors.New("no session: run it in the root of the repository")
	}
	return errors.Join(failed...)
}

const screenPrefix = "screen "

// withScreens returns a session with the screens that were seen in the place of those that it had.
func withScreens(archive *txtar.Archive, screens []txtar.File) *txtar.Archive {
	all := &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		if !strings.HasPrefix(f.Name, screenPrefix) {
			all.Files = append(all.Files, f)
		}
	}
	all.Files = append(all.Files, screens...)
	return all
}

// compare compares the screens of a session with those that were seen.
func compare(archive *txtar.Archive, screens []txtar.File) error {
	want := map[string]string{}
	for _, f := range archive.Files {
		if strings.HasPrefix(f.Name, screenPrefix) {
			want[f.Name] = string(f.Data)
		}
	}
	var all []error
	for _, f := range screens {
		if got := string(f.Data); got != want[f.Name] {
			all = append(all, fmt.Errorf("%s differs (make tty TTY_FLAGS=-update accepts it)\n--- seen\n%s--- expected\n%s", f.Name, got, want[f.Name]))
		}
	}
	return errors.Join(all...)
}
