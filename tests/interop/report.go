// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"time"
)

// patience is far above what any step needs: reaching it means that the awaited event did not come.
const patience = 20 * time.Second

// report is the sum over all scenarios.
type report struct {
	passed, failed int
}

func (r *report) end() int {
	fmt.Printf("%d passed, %d failed\n", r.passed, r.failed)
	if r.failed > 0 || r.passed == 0 {
		return 1
	}
	return 0
}

// scenario is a function with what the report says about it.
type scenario struct {
	name, about string
	body        func(*test)
}

// unmet ends a scenario that cannot go on.
type unmet struct{ why string }

// test is one scenario in progress: it counts its checks and owns all that it starts.
type test struct {
	report  *report
	program string
	dir     string
	verbose bool
	cleanup []func()
}

func (s scenario) play(r *report, program, work string, verbose bool) {
	fmt.Printf("%s: %s\n", s.name, s.about)
	began := time.Now()
	t := &test{report: r, program: program, dir: filepath.Join(work, s.name), verbose: verbose}
	if err := os.Mkdir(t.dir, 0o700); err != nil {
		t.check("a working directory: "+err.Error(), false, "")
		return
	}
	func() {
		defer t.end()
		defer func() {
			switch why := recover().(type) {
			case nil:
			case unmet:
				t.check(s.name+" goes on", false, why.why)
			default:
				panic(why)
			}
		}()
		s.body(t)
	}()
	fmt.Printf("  (%.1f s)\n", time.Since(began).Seconds())
}

func (t *test) end() {
	for i := len(t.cleanup) - 1; i >= 0; i-- {
		t.cleanup[i]()
	}
}

func (t *test) check(what string, holds bool, seen interface{}) {
	if holds {
		t.report.passed++
		fmt.Println("  ok  ", what)
		return
	}
	t.report.failed++
	fmt.Println("  FAIL", what)
	fmt.Println("       seen:", short(seen))
}

func (t *test) equal(what string, seen, expected interface{}) {
	t.check(fmt.Sprintf("%s: %s", what, short(expected)), reflect.DeepEqual(seen, expected), seen)
}

func (t *test) must(what string, err error) {
	if err != nil {
		panic(unmet{what + ": " + err.Error()})
	}
}

func short(value interface{}) string {
	text := fmt.Sprintf("%+v", value)
	if len(text) > 400 {
		return fmt.Sprintf("%s... (%d characters)", text[:400], len(text))
	}
	return text
}
