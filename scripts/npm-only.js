/** Warns before an installation by a tool other than npm, because only npm reads the overrides in package.json. */
if (!process.env.npm_config_user_agent?.startsWith('npm/'))
  console.error('Install with npm: others do not read the overrides in package.json.');
