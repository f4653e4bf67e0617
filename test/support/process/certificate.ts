import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export interface Certificate {
  cert: string;
  key: string;
}

/**
 * Creates a self-signed certificate that is valid for a day.
 * @param names such as `DNS:localhost`.
 * @returns the paths of two PEM files in `folder`.
 */
export function createCertificate(folder: string, names: string, file = ''): Certificate {
  const [cert, key] = [join(folder, `${file}cert.pem`), join(folder, `${file}key.pem`)];
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-keyout', key, '-out', cert];
  const subject = ['-subj', '/CN=localhost', '-addext', `subjectAltName=${names}`];
  execFileSync('openssl', [...args, ...subject], { stdio: 'ignore' });
  return { cert, key };
}
