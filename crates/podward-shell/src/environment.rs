//! Variables that change what programs do.

/// Variables that change what later commands mean, load code, or name programs to run.
const SPECIAL: &[&str] = &[
    "PATH",
    "IFS",
    "CDPATH",
    "ENV",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "PROMPT_COMMAND",
    "SHELLOPTS",
    "POSIXLY_CORRECT",
    "GLOBIGNORE",
    "EXECIGNORE",
    "HOME",
    "SHELL",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "MANPAGER",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PERL5DB",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC",
    "RUSTDOC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTFLAGS",
    "CC",
    "CXX",
    "LD",
    "AR",
    "MAKEFLAGS",
    "GNUMAKEFLAGS",
    "MAKEFILES",
    "GOFLAGS",
    "GOROOT",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "MAVEN_OPTS",
    "GRADLE_OPTS",
    "CLASSPATH",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "RSYNC_RSH",
    "CVS_RSH",
    "TAR_OPTIONS",
    "ZIPOPT",
    "UNZIP",
    "GREP_OPTIONS",
    "RIPGREP_CONFIG_PATH",
    "FZF_DEFAULT_COMMAND",
    "PROMPT",
    "BASH_ENV",
    "DOCKER_HOST",
    "KUBECONFIG",
    "OPENSSL_CONF",
    "PIP_CONFIG_FILE",
    "CURL_HOME",
    "WGETRC",
    "VIMINIT",
    "EXINIT",
];

/// The same by how the names begin.
const SPECIAL_PREFIXES: &[&str] = &[
    "BASH_",
    "LD_",
    "DYLD_",
    "GIT_",
    "CARGO_",
    "npm_config_",
    "NPM_CONFIG_",
    "PIP_",
    "GLIBC_",
    "MALLOC_",
    "SSH_",
    "UV_",
    "DOTNET_STARTUP_",
];

/// Whether a variable may be more than data whose name begins so.
pub(crate) fn may_be_special(front: &str) -> bool {
    is_special(front)
        || SPECIAL
            .iter()
            .chain(SPECIAL_PREFIXES)
            .any(|name| name.starts_with(front))
}

/// Whether a variable is more than data.
pub(crate) fn is_special(name: &str) -> bool {
    SPECIAL.contains(&name)
        || SPECIAL_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}
