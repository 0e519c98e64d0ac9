// Owns: the page of results as a picture for the docs: `node bench/break/shot.mjs PAGE.html PICTURE.png`.

import { pathToFileURL } from 'node:url';
import chromium from '@sparticuz/chromium';
import { chromium as playwright } from 'playwright-core';

const [page, picture] = process.argv.slice(2);
const args = chromium.args.filter((arg) => !/single-process|no-zygote|disable-web-security/.test(arg));
const browser = await playwright.launch({ executablePath: await chromium.executablePath(), args });
try {
  const tab = await browser.newPage({ viewport: { width: 1300, height: 800 }, deviceScaleFactor: 1 });
  await tab.goto(pathToFileURL(page).href);
  await tab.screenshot({ path: picture, fullPage: true });
} finally {
  await browser.close();
}
