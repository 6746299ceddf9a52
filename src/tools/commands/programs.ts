/**
 * What is known about programs that do more than their name says. Data only; `effects.ts` reads it. A program that is
 * not here is taken at its word: a rule that allows `mytool *` allows all that mytool does.
 */

export type Flags = {
  /** Long options, without their dashes. An abbreviation counts too. */
  long?: string
  /** Letters of short options. */
  short?: string
  /** Any other form, as an expression over the whole word. */
  words?: RegExp
  /** A form that only its first word may have. */
  first?: RegExp
}

export type Program = {
  /** Options by which it writes a file, or reads orders from one. */
  writes?: Flags
  /** Options by which it runs something that is not seen here, or takes a program as text. */
  runs?: Flags
  /** Letters of short options that take a value: what follows them in the word is no option. */
  takes?: string
  /** Options that look like an abbreviation of one above and are not. */
  safe?: string
  /** Words after `--` are still read as options or orders. */
  never_ends?: true
  /** It says with its first word what it does; what is known about each. */
  by_first_word?: Record<string, Program>
  /** It runs others by its nature: a rule must say its name, not merely match it. */
  named?: true
  /** Without anything to run it takes orders from its input, unless one of these is there. */
  interprets?: RegExp
  /** Options of an interpreter that take no value in the next word. */
  plain_options?: RegExp
  /** Its second operand is a file that it writes; options whose value is the next word. */
  second_writes?: RegExp
}

/** What changes how the rest of the line is read, or runs what nobody can see. */
export const NEVER: Record<string, string> = {
  ...each('eval source . exec alias unalias hash enable trap bind complete compgen compopt shopt let', 'it uses %'),
  ...each('mapfile readarray getopts fc history coproc caller dirs disown logout suspend', 'it uses %'),
  ...each('sudo doas su pkexec runuser sg newgrp', '% runs with other rights'),
  ...each('fish csh tcsh zsh ksh mksh pwsh nu elvish xonsh', '% is another shell'),
}

/** Programs that run others, or take orders, in ways that are not looked into. A rule must name them. */
export const HIDING = names(
  'ssh scp sftp rsync parallel watch entr script scriptreplay flock unshare nsenter chroot setpriv capsh strace ltrace ' +
    'gdb lldb perf valgrind docker podman kubectl oc helm nerdctl crictl ctr lxc ip systemctl systemd-run crontab at ' +
    'batch tmux screen expect unbuffer socat nc ncat netcat telnet setsid ionice chrt taskset numactl cgexec firejail ' +
    'bwrap proot fakeroot vim vi nvim view ex ed red emacs emacsclient nano pico less more most man info psql mysql ' +
    'sqlite3 mongosh redis-cli ftp lftp bc dc m4 gdbserver rlwrap dbus-run-session xvfb-run start-stop-daemon ' +
    'run-parts osascript open xdg-open ansible ansible-playbook vagrant salt fabric doit just task mage ' +
    'setarch linux32 linux64 i386 x86_64 uname26 prlimit choom runcon coresched uclampset systemd-inhibit systemd-cat ' +
    'ssh-agent dbus-launch nix-shell dotenv faketime eatmydata torsocks torify proxychains proxychains4 hyperfine ' +
    'nodemon concurrently dumb-init tini gosu su-exec chpst setuidgid softlimit daemonize cpulimit ccache distcc ' +
    'sccache bear rr heaptrack catchsegv sem wine',
)

/** The program that loads programs runs whatever it is given. */
export const LOADER = /^ld(?:-linux[\w-]*|-musl[\w-]*|64|-[\d.]+)?\.so(?:\.\d+)*$/

const DIFF: Program = {
  writes: { long: 'output' },
  runs: { long: 'ext-diff textconv' },
  takes: 'SGLUOlXB',
  safe: '--text',
}
const REMOTE: Program = {
  ...DIFF,
  runs: { long: 'upload-pack exec receive-pack ext-diff textconv', words: /^(?:ext|fd)::/ },
}
const NAMED: Program = { named: true }

/** Many commands of git take the options of diff without saying so. */
export const GIT_OTHERS: Program = DIFF

const GIT: Record<string, Program> = {
  ...same('diff log show whatchanged reflog diff-tree diff-index diff-files stash range-diff shortlog blame', DIFF),
  'format-patch': { ...DIFF, writes: { long: 'output output-directory', short: 'o' } },
  grep: {
    ...DIFF,
    runs: { long: 'open-files-in-pager ext-grep textconv ext-diff', short: 'O' },
    takes: 'efABCm',
  },
  'cat-file': { ...DIFF, runs: { long: 'textconv filters ext-diff' } },
  archive: { writes: { long: 'output', short: 'o' }, runs: { long: 'exec remote' } },
  ...same('fetch pull ls-remote push fetch-pack send-pack remote', REMOTE),
  clone: { runs: { ...REMOTE.runs, long: 'upload-pack config template', short: 'uc' }, takes: 'boj' },
  submodule: { ...DIFF, runs: { ...DIFF.runs, words: /^foreach$|^(?:ext|fd)::/ } },
  bisect: { ...DIFF, runs: { ...DIFF.runs, words: /^(?:run|visualize|view)$/ } },
  rebase: { ...DIFF, runs: { long: 'exec interactive edit-todo ext-diff textconv', short: 'xi' }, takes: 'XsC' },
  ...same(
    'config difftool mergetool filter-branch send-email instaweb web--browse help gui citool daemon shell',
    NAMED,
  ),
  ...same('hook maintenance credential upload-pack receive-pack upload-archive fast-import svn p4 cvsimport', NAMED),
  ...same('merge-index for-each-repo remote-ext remote-fd merge-one-file http-backend imap-send quiltimport', NAMED),
  // These read their options strictly, and none of them is one of diff.
  ...same('add am apply branch checkout clean commit describe for-each-ref gc hash-object ls-files ls-tree', {}),
  ...same('merge merge-base mv notes reset restore rev-parse rm show-ref status switch tag update-ref worktree', {}),
  init: { runs: { long: 'template separate-git-dir' } },
}

const NODE_PACKAGES: Record<string, Program> = {
  ...same('exec x dlx create init explore edit config set', NAMED),
  ...same('install i add ci run run-script test t start build rebuild publish pack link', {
    runs: { long: 'script-shell node-options prefix userconfig globalconfig shell git' },
  }),
}

const NODE_ALONE =
  /^(?:-c|--(?:check|watch|no-[\w-]+|enable-source-maps|inspect|inspect-brk|expose-gc|trace-warnings|trace-deprecation|trace-uncaught|throw-deprecation|pending-deprecation|preserve-symlinks|experimental-(?:strip-types|transform-types|vm-modules|sqlite|test-coverage)))$/

const PROGRAMS: Record<string, Program> = {
  git: { by_first_word: GIT },
  find: {
    writes: { words: /^-(?:delete|fprint0?|fprintf|fls|files0-from)$/ },
    never_ends: true,
  },
  fd: { runs: { long: 'exec exec-batch', short: 'xX' }, takes: 'deEtScjo' },
  rg: { runs: { long: 'pre hostname-bin search-zip', short: 'z' }, takes: 'efgtTABCmjMrdE', safe: '--pre-glob' },
  ag: { runs: { long: 'pager' } },
  ack: { runs: { long: 'pager env ackrc' } },
  sort: {
    writes: { long: 'output temporary-directory', short: 'oT' },
    runs: { long: 'compress-program' },
    takes: 'kSt',
  },
  shuf: { writes: { long: 'output', short: 'o' }, takes: 'in' },
  iconv: { writes: { long: 'output', short: 'o' }, takes: 'ft' },
  uniq: { second_writes: /^-[fsw]$/ },
  tree: { writes: { words: /^-\w*[oR]\w*$/ } },
  sed: { writes: { long: 'in-place file', short: 'if' }, takes: 'el' },
  awk: { writes: { words: /^-(?![Fv]).*/ }, takes: 'Fv' },
  tar: {
    writes: { long: 'listed-incremental index-file', short: 'g' },
    runs: {
      long: 'to-command checkpoint-action use-compress-program info-script new-volume-script rsh-command rmt-command files-from',
      // A list of files may hold options too.
      short: 'IFT',
      // The old form, without a dash.
      first: /^[A-Za-z]*[IFTg][A-Za-z]*$/,
    },
    takes: 'fCbXHVNLK',
  },
  zip: { runs: { long: 'unzip-command', words: /^-\w*T\w*$/ } },
  cpio: { runs: { long: 'rsh-command' } },
  curl: {
    writes: {
      long:
        'output remote-name remote-name-all output-dir config upload-file dump-header cookie-jar trace trace-ascii stderr ' +
        'data data-binary data-raw data-urlencode form json libcurl etag-save hsts alt-svc write-out netrc-file',
      short: 'oOKTDcdFJw',
    },
    runs: { long: 'engine proxy preproxy unix-socket socks4 socks4a socks5 socks5-hostname', short: 'x' },
    takes: 'HAeuXbmrCyYzUtPQE',
  },
  wget: {
    writes: { long: 'output-document output-file append-output config save-cookies', short: 'Ooa' },
    runs: { long: 'use-askpass execute', short: 'e' },
    takes: 'tTPUARDXIlQw',
  },
  dd: { writes: { words: /^of=/ } },
  date: { writes: { long: 'set', short: 's' }, takes: 'dfrI' },
  file: { writes: { long: 'compile magic-file', short: 'Cm' }, takes: 'fFPe' },
  xxd: {
    writes: { words: /^-(?:r|revert)/ },
    second_writes: /^-(?:c|cols|g|groupsize|l|len|n|name|o|offset|s|seek|skip|R)$/,
  },
  openssl: {
    writes: { words: /^-(?:out|writerand|keyout|CAcreateserial)/ },
    runs: { words: /^-(?:engine|provider|provider-path|config)/ },
  },
  split: { runs: { long: 'filter' } },
  bat: { runs: { long: 'pager' }, takes: 'lrHm' },
  delta: { runs: { long: 'pager' } },
  make: {
    runs: { long: 'eval file makefile directory include-dir environment-overrides', short: 'fCIE', words: /=/ },
    takes: 'jlo',
  },
  ninja: { runs: { short: 'fC' } },
  cmake: { runs: { short: 'PEC', words: /^-D.*=/ } },
  cargo: {
    by_first_word: {
      ...same('build check test run clippy doc bench install fix', {
        runs: { long: 'config target-dir manifest-path' },
      }),
      ...same('fmt', { runs: { long: 'config manifest-path config-path' } }),
    },
  },
  go: {
    by_first_word: {
      ...same('build test run vet install list get', {
        writes: {
          words:
            /^--?(?:test\.)?(?:o|coverprofile|cpuprofile|memprofile|blockprofile|mutexprofile|trace|outputdir)(?:=|$)/,
        },
        runs: {
          words:
            /^--?(?:exec|toolexec|ldflags|gcflags|asmflags|gccgoflags|modfile|overlay|pkgdir|C|compiler|vettool)(?:=|$)/,
        },
      }),
      ...same('generate tool env', NAMED),
    },
  },
  npm: { by_first_word: NODE_PACKAGES },
  pnpm: { by_first_word: NODE_PACKAGES },
  yarn: { by_first_word: NODE_PACKAGES },
  bun: { by_first_word: { ...NODE_PACKAGES, repl: NAMED } },
  pip: { by_first_word: { config: NAMED } },
  // What these run is looked into in `runners.ts`, where it can be seen.
  ...same('uv poetry pipenv pdm hatch rye pixi conda mamba micromamba direnv asdf doppler op bundle', {
    by_first_word: {},
  }),
  nix: { by_first_word: same('run shell develop', NAMED) },
  mise: { by_first_word: same('exec x run r watch tasks', NAMED) },
  pytest: {
    writes: { long: 'junitxml junit-xml basetemp log-file report-log resultlog', words: /^--cov-report=.*:/ },
    runs: { long: 'rootdir confcutdir override-ini config-file pdbcls trace-config pastebin', short: 'pco' },
    takes: 'kmnrW',
    safe: '--co',
  },
  tsc: {
    writes: { words: /^--?(?:outdir|outfile|declarationdir|tsbuildinfofile|generatetrace|generatecpuprofile)$/i },
  },
  eslint: {
    writes: { long: 'output-file cache-location', short: 'o' },
    runs: { long: 'rulesdir resolve-plugins-relative-to' },
  },
  prettier: { runs: { long: 'plugin' } },
  gcc: { runs: { words: /^(?:-wrapper|-fplugin.*|-B.*|-specs.*|@.*|-Xlinker|-Wl,.*plugin.*)$/ } },
  ld: { runs: { words: /^(?:--?plugin.*|@.*|--?dynamic-linker.*)$/ } },
  strip: { writes: { short: 'o' } },
  yq: { writes: { long: 'inplace in-place split-exp', short: 'i' } },
  python: {
    writes: { short: 'm' },
    runs: { short: 'c', words: /^-$|^-i/ },
    takes: 'WX',
    interprets: /^(?:-V+|--version|-h|--help)$/,
    plain_options: /^-[bBdEIOPqRsSuvx]+$/,
  },
  node: {
    runs: {
      long: 'eval print require import loader experimental-loader env-file interactive',
      short: 'epri',
      words: /^-$/,
    },
    interprets: /^(?:--test|-v|--version|-h|--help|--run|--v8-options)(?:=|$)/,
    plain_options: NODE_ALONE,
  },
  perl: { runs: { short: 'eEiMmdIx', words: /^-$/ }, interprets: /^-[vVh]/, plain_options: /^-[wWtTucnpas]+$/ },
  ruby: {
    runs: { short: 'eriIxSC', words: /^-$/ },
    interprets: /^(?:-v|--version|-h|--help)$/,
    plain_options: /^-[wdnpsac]+$/,
  },
  php: { runs: { short: 'rBREFdzca', words: /^-$/ }, interprets: /^-[vhim]$/, plain_options: /^-[nqfSt]$/ },
  lua: { runs: { short: 'eli', words: /^-$/ }, interprets: /^-v$/, plain_options: /^-[EW]$/ },
  deno: { runs: { words: /^(?:eval|repl|-)$/ } },
  tsx: {
    runs: { long: 'eval print require import', short: 'epr', words: /^-$/ },
    interprets: /^(?:--test|--version|-v)$/,
    plain_options: NODE_ALONE,
  },
  Rscript: { runs: { short: 'e' }, interprets: /^--version$/, plain_options: /^--(?:vanilla|no-[\w-]+|quiet)$/ },
  java: { runs: { words: /^(?:-javaagent.*|-agentlib.*|-agentpath.*|@.*|-XX:OnError.*|-XX:OnOutOfMemoryError.*)$/ } },
}

/** Another name for the same program. */
const ALIASES: Record<string, string> = {
  ...each('gawk mawk nawk original-awk', 'awk'),
  ...each('gsed', 'sed'),
  ...each('gfind', 'find'),
  ...each('gtar bsdtar', 'tar'),
  ...each('gsort', 'sort'),
  ...each('fdfind', 'fd'),
  ...each('batcat', 'bat'),
  ...each('nodejs', 'node'),
  ...each('gmake bmake', 'make'),
  ...each('cc g++ c++ clang clang++', 'gcc'),
  ...each('py.test', 'pytest'),
  ...each('pypy ipython', 'python'),
  ...each('ts-node', 'tsx'),
  ...each('luajit', 'lua'),
}

export const SHELLS = names('sh bash dash ash rbash')

/** Variables that only change how a program speaks. Set in front of a command they do no harm. */
export const HARMLESS_VARIABLES = names(
  'NODE_ENV CI LANG LC_ALL LC_CTYPE LC_MESSAGES LANGUAGE TZ FORCE_COLOR NO_COLOR CLICOLOR CLICOLOR_FORCE DEBUG VERBOSE ' +
    'RUST_BACKTRACE RUST_LOG CARGO_TERM_COLOR COLUMNS LINES TERM PORT HOST CGO_ENABLED GOOS GOARCH ' +
    'PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED GIT_TERMINAL_PROMPT LOG_LEVEL APP_ENV RAILS_ENV ' +
    'DJANGO_DEBUG TEST_ENV HUSKY DOTNET_CLI_TELEMETRY_OPTOUT NEXT_TELEMETRY_DISABLED SOURCE_DATE_EPOCH',
)

/** Variables that are safe with these values. */
export const HARMLESS_VALUES: Record<string, RegExp> = {
  PAGER: /^(?:cat)?$/,
  GIT_PAGER: /^(?:cat)?$/,
  GIT_EDITOR: /^(?:true|:)$/,
  // Makefiles put these in front of the commands they run.
  V: /^[01]?$/,
  Q: /^@?$/,
  NODE_OPTIONS: /^--max[-_]old[-_]space[-_]size=\d+$/,
}

/** Variables that the shell itself or programs look at. None of them is set, exported or unset by an understood line. */
export const SPECIAL_VARIABLES =
  /^(?:BASH.*|PATH|IFS|ENV|HOME|PWD|OLDPWD|CDPATH|GLOBIGNORE|SHELLOPTS|SHELL|PS[0-4]|PROMPT_.*|POSIXLY_CORRECT|LD_.*|DYLD_.*|LC_.*|LANG.*|TZ.*|TMP|TEMP|TMPDIR|FUNCNEST|EXECIGNORE|HIST.*|TIMEFORMAT|COMP_.*|COMPREPLY|READLINE_.*|INPUTRC|FIGNORE|OPT.*|REPLY|RANDOM|SECONDS|LINENO|UID|EUID|PPID|USER|LOGNAME|GROUPS|DIRSTACK|MAIL.*|GIT_.*|SSH_.*|NODE_.*|NPM_.*|PYTHON.*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|JAVA_.*|_JAVA.*|JDK_.*|CLASSPATH|GO[A-Z]*|CARGO.*|RUST.*|CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS|MAKE.*|PAGER|MANPAGER|EDITOR|VISUAL|BROWSER|LESS.*|MORE|TAR_.*|ZIP.*|GREP_.*|RIPGREP_.*|XDG_.*|DOCKER_.*|KUBE.*|AWS_.*|HTTPS?_PROXY|ALL_PROXY|NO_PROXY|CURL_.*|WGET.*|.*_?ASKPASS|TERM.*|VIM.*|GCONV_PATH|LOCPATH|NLSPATH|MALLOC_.*|GLIBC_.*|OPENSSL_.*|SSL_.*|PIP_.*|PYTEST_.*|VIRTUAL_ENV|CONDA_.*|_)$/

/** Programs that only pass on what they read; their options here neither name files nor run anything. */
export const FILTERS: Record<string, { options: RegExp; operands: number }> = {
  head: { options: /^-(?:\d+|[nc]\d*|q|v|-lines=\d+|-bytes=\d+)$/, operands: 0 },
  tail: { options: /^-(?:\d+|[nc]\+?\d*|q|v|-lines=\+?\d+|-bytes=\+?\d+)$/, operands: 0 },
  wc: { options: /^-(?:[lwcmL]+|-lines|-words|-bytes|-chars)$/, operands: 0 },
  cat: { options: /^-[nAbsveETt]+$/, operands: 0 },
  nl: { options: /^-[a-z]+\d*$/, operands: 0 },
  tac: { options: /^$/, operands: 0 },
  rev: { options: /^$/, operands: 0 },
  column: { options: /^-(?:t|s.*|x)$/, operands: 0 },
  sort: { options: /^-(?:[bdfghinrRuVz]+|[kt].+|k|t)$/, operands: 0 },
  uniq: { options: /^-[cdiuD]+$/, operands: 0 },
  cut: { options: /^-(?:[dfcb].*|s|-complement|-delimiter=.*|-fields=.*)$/, operands: 0 },
  tr: { options: /^-[cdstC]+$/, operands: 2 },
  grep: {
    options:
      /^-(?:[ivcnoEFGPwxhHqsal]+|[ABCm]\d*|[ivnoEFGPwx]*e|-color(?:=\w+)?|-colour(?:=\w+)?|-(?:after|before)-context=\d+|-context=\d+|-ignore-case|-invert-match|-count|-line-number|-only-matching|-max-count=\d+)$/,
    operands: 1,
  },
  egrep: { options: /^-[ivcnowxqsal]+$/, operands: 1 },
  fgrep: { options: /^-[ivcnowxqsal]+$/, operands: 1 },
  jq: { options: /^-(?:[rcMSsjanCe]+|-raw-output|-compact-output|-sort-keys|-slurp|-exit-status|-arg)$/, operands: 1 },
}

/** Short options of filters after which the next word is their value. */
export const FILTER_VALUES: Record<string, RegExp> = {
  head: /^-[nc]$/,
  tail: /^-[nc]$/,
  cut: /^-[dfcb]$/,
  sort: /^-[kt]$/,
  column: /^-s$/,
  nl: /^-[bfhdilnsvw]$/,
  grep: /^-(?:[ABCm])$/,
}

function names(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}

function each(text: string, value: string): Record<string, string> {
  return Object.fromEntries(text.split(' ').map((name) => [name, value.replace('%', name)]))
}

function same(text: string, program: Program): Record<string, Program> {
  return Object.fromEntries(text.split(' ').map((name) => [name, program]))
}

/** What a program is called here: `gawk` is awk, `python3.11` is python; null where nothing is known of it. */
export function programName(name: string): string | null {
  const plain = Object.hasOwn(ALIASES, name) ? (ALIASES[name] as string) : name
  if (Object.hasOwn(PROGRAMS, plain) || HIDING.has(plain)) return plain
  const versionless = name.replace(/-?\d[\d.]*$/, '')
  const unversioned = Object.hasOwn(ALIASES, versionless) ? (ALIASES[versionless] as string) : versionless
  return Object.hasOwn(PROGRAMS, unversioned) ? unversioned : null
}

export function programOf(name: string): Program | null {
  return Object.hasOwn(PROGRAMS, name) ? (PROGRAMS[name] as Program) : null
}
