/** The JavaScript version of recheck. The package's main module would look for Java and for native programs. */
declare module '#recheck' {
  const recheck: Pick<typeof import('recheck'), 'checkSync'>;
  export default recheck;
}
