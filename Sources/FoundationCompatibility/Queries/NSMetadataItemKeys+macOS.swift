#if !canImport(ObjectiveC)
  // The attributes of macOS, by Apple's constants. On a plain file system the dates, comments, tags and origins among
  // them have values; the others are missing unless a provider gives them. Queries may name all of them.

  // MARK: - Descriptions of an item

  /// Attribute change date.
  public let NSMetadataItemAttributeChangeDateKey = "kMDItemAttributeChangeDate"

  /// Keywords.
  public let NSMetadataItemKeywordsKey = "kMDItemKeywords"

  /// Title.
  public let NSMetadataItemTitleKey = "kMDItemTitle"

  /// Authors.
  public let NSMetadataItemAuthorsKey = "kMDItemAuthors"

  /// Editors.
  public let NSMetadataItemEditorsKey = "kMDItemEditors"

  /// Participants.
  public let NSMetadataItemParticipantsKey = "kMDItemParticipants"

  /// Projects.
  public let NSMetadataItemProjectsKey = "kMDItemProjects"

  /// Downloaded date.
  public let NSMetadataItemDownloadedDateKey = "kMDItemDownloadedDate"

  /// Where froms.
  public let NSMetadataItemWhereFromsKey = "kMDItemWhereFroms"

  /// Comment.
  public let NSMetadataItemCommentKey = "kMDItemComment"

  /// Copyright.
  public let NSMetadataItemCopyrightKey = "kMDItemCopyright"

  /// Last used date.
  public let NSMetadataItemLastUsedDateKey = "kMDItemLastUsedDate"

  /// Content creation date.
  public let NSMetadataItemContentCreationDateKey = "kMDItemContentCreationDate"

  /// Content modification date.
  public let NSMetadataItemContentModificationDateKey = "kMDItemContentModificationDate"

  /// Date added.
  public let NSMetadataItemDateAddedKey = "kMDItemDateAdded"

  /// Duration seconds.
  public let NSMetadataItemDurationSecondsKey = "kMDItemDurationSeconds"

  /// Contact keywords.
  public let NSMetadataItemContactKeywordsKey = "kMDItemContactKeywords"

  /// Version.
  public let NSMetadataItemVersionKey = "kMDItemVersion"

  /// Headline.
  public let NSMetadataItemHeadlineKey = "kMDItemHeadline"

  /// Instructions.
  public let NSMetadataItemInstructionsKey = "kMDItemInstructions"

  /// City.
  public let NSMetadataItemCityKey = "kMDItemCity"

  /// State or province.
  public let NSMetadataItemStateOrProvinceKey = "kMDItemStateOrProvince"

  /// Country.
  public let NSMetadataItemCountryKey = "kMDItemCountry"

  /// Text content.
  public let NSMetadataItemTextContentKey = "kMDItemTextContent"

  /// Organizations.
  public let NSMetadataItemOrganizationsKey = "kMDItemOrganizations"

  /// Languages.
  public let NSMetadataItemLanguagesKey = "kMDItemLanguages"

  /// Rights.
  public let NSMetadataItemRightsKey = "kMDItemRights"

  /// Publishers.
  public let NSMetadataItemPublishersKey = "kMDItemPublishers"

  /// Contributors.
  public let NSMetadataItemContributorsKey = "kMDItemContributors"

  /// Coverage.
  public let NSMetadataItemCoverageKey = "kMDItemCoverage"

  /// Subject.
  public let NSMetadataItemSubjectKey = "kMDItemSubject"

  /// Theme.
  public let NSMetadataItemThemeKey = "kMDItemTheme"

  /// Description.
  public let NSMetadataItemDescriptionKey = "kMDItemDescription"

  /// Identifier.
  public let NSMetadataItemIdentifierKey = "kMDItemIdentifier"

  /// Audiences.
  public let NSMetadataItemAudiencesKey = "kMDItemAudiences"

  /// Number of pages.
  public let NSMetadataItemNumberOfPagesKey = "kMDItemNumberOfPages"

  /// Page width.
  public let NSMetadataItemPageWidthKey = "kMDItemPageWidth"

  /// Page height.
  public let NSMetadataItemPageHeightKey = "kMDItemPageHeight"

  /// Security method.
  public let NSMetadataItemSecurityMethodKey = "kMDItemSecurityMethod"

  /// Creator.
  public let NSMetadataItemCreatorKey = "kMDItemCreator"

  /// Encoding applications.
  public let NSMetadataItemEncodingApplicationsKey = "kMDItemEncodingApplications"

  /// Due date.
  public let NSMetadataItemDueDateKey = "kMDItemDueDate"

  /// Star rating.
  public let NSMetadataItemStarRatingKey = "kMDItemStarRating"

  /// Phone numbers.
  public let NSMetadataItemPhoneNumbersKey = "kMDItemPhoneNumbers"

  /// Email addresses.
  public let NSMetadataItemEmailAddressesKey = "kMDItemEmailAddresses"

  /// Instant message addresses.
  public let NSMetadataItemInstantMessageAddressesKey = "kMDItemInstantMessageAddresses"

  /// Kind.
  public let NSMetadataItemKindKey = "kMDItemKind"

  /// Recipients.
  public let NSMetadataItemRecipientsKey = "kMDItemRecipients"

  /// Finder comment.
  public let NSMetadataItemFinderCommentKey = "kMDItemFinderComment"

  /// Fonts.
  public let NSMetadataItemFontsKey = "kMDItemFonts"

  /// Information.
  public let NSMetadataItemInformationKey = "kMDItemInformation"

  /// Bundle identifier.
  public let NSMetadataItemCFBundleIdentifierKey = "kMDItemCFBundleIdentifier"

  /// Author email addresses.
  public let NSMetadataItemAuthorEmailAddressesKey = "kMDItemAuthorEmailAddresses"

  /// Recipient email addresses.
  public let NSMetadataItemRecipientEmailAddressesKey = "kMDItemRecipientEmailAddresses"

  /// Author addresses.
  public let NSMetadataItemAuthorAddressesKey = "kMDItemAuthorAddresses"

  /// Recipient addresses.
  public let NSMetadataItemRecipientAddressesKey = "kMDItemRecipientAddresses"

  /// Is likely junk.
  public let NSMetadataItemIsLikelyJunkKey = "kMDItemIsLikelyJunk"

  /// Executable architectures.
  public let NSMetadataItemExecutableArchitecturesKey = "kMDItemExecutableArchitectures"

  /// Executable platform.
  public let NSMetadataItemExecutablePlatformKey = "kMDItemExecutablePlatform"

  /// Application categories.
  public let NSMetadataItemApplicationCategoriesKey = "kMDItemApplicationCategories"

  /// Is application managed.
  public let NSMetadataItemIsApplicationManagedKey = "kMDItemIsApplicationManaged"

  // MARK: - Images

  /// Pixel height.
  public let NSMetadataItemPixelHeightKey = "kMDItemPixelHeight"

  /// Pixel width.
  public let NSMetadataItemPixelWidthKey = "kMDItemPixelWidth"

  /// Pixel count.
  public let NSMetadataItemPixelCountKey = "kMDItemPixelCount"

  /// Color space.
  public let NSMetadataItemColorSpaceKey = "kMDItemColorSpace"

  /// Bits per sample.
  public let NSMetadataItemBitsPerSampleKey = "kMDItemBitsPerSample"

  /// Flash on off.
  public let NSMetadataItemFlashOnOffKey = "kMDItemFlashOnOff"

  /// Focal length.
  public let NSMetadataItemFocalLengthKey = "kMDItemFocalLength"

  /// Acquisition make.
  public let NSMetadataItemAcquisitionMakeKey = "kMDItemAcquisitionMake"

  /// Acquisition model.
  public let NSMetadataItemAcquisitionModelKey = "kMDItemAcquisitionModel"

  /// ISO speed.
  public let NSMetadataItemISOSpeedKey = "kMDItemISOSpeed"

  /// Orientation.
  public let NSMetadataItemOrientationKey = "kMDItemOrientation"

  /// Layer names.
  public let NSMetadataItemLayerNamesKey = "kMDItemLayerNames"

  /// White balance.
  public let NSMetadataItemWhiteBalanceKey = "kMDItemWhiteBalance"

  /// Aperture.
  public let NSMetadataItemApertureKey = "kMDItemAperture"

  /// Profile name.
  public let NSMetadataItemProfileNameKey = "kMDItemProfileName"

  /// Resolution width DPI.
  public let NSMetadataItemResolutionWidthDPIKey = "kMDItemResolutionWidthDPI"

  /// Resolution height DPI.
  public let NSMetadataItemResolutionHeightDPIKey = "kMDItemResolutionHeightDPI"

  /// Exposure mode.
  public let NSMetadataItemExposureModeKey = "kMDItemExposureMode"

  /// Exposure time seconds.
  public let NSMetadataItemExposureTimeSecondsKey = "kMDItemExposureTimeSeconds"

  /// EXIF version.
  public let NSMetadataItemEXIFVersionKey = "kMDItemEXIFVersion"

  /// Camera owner.
  public let NSMetadataItemCameraOwnerKey = "kMDItemCameraOwner"

  /// Focal length 35 mm.
  public let NSMetadataItemFocalLength35mmKey = "kMDItemFocalLength35mm"

  /// Lens model.
  public let NSMetadataItemLensModelKey = "kMDItemLensModel"

  /// EXIF GPS version.
  public let NSMetadataItemEXIFGPSVersionKey = "kMDItemEXIFGPSVersion"

  /// Has alpha channel.
  public let NSMetadataItemHasAlphaChannelKey = "kMDItemHasAlphaChannel"

  /// Red eye on off.
  public let NSMetadataItemRedEyeOnOffKey = "kMDItemRedEyeOnOff"

  /// Metering mode.
  public let NSMetadataItemMeteringModeKey = "kMDItemMeteringMode"

  /// Max aperture.
  public let NSMetadataItemMaxApertureKey = "kMDItemMaxAperture"

  /// F number.
  public let NSMetadataItemFNumberKey = "kMDItemFNumber"

  /// Exposure program.
  public let NSMetadataItemExposureProgramKey = "kMDItemExposureProgram"

  /// Exposure time string.
  public let NSMetadataItemExposureTimeStringKey = "kMDItemExposureTimeString"

  // MARK: - Where an item was made

  /// Altitude.
  public let NSMetadataItemAltitudeKey = "kMDItemAltitude"

  /// Latitude.
  public let NSMetadataItemLatitudeKey = "kMDItemLatitude"

  /// Longitude.
  public let NSMetadataItemLongitudeKey = "kMDItemLongitude"

  /// Speed.
  public let NSMetadataItemSpeedKey = "kMDItemSpeed"

  /// Timestamp.
  public let NSMetadataItemTimestampKey = "kMDItemTimestamp"

  /// GPS track.
  public let NSMetadataItemGPSTrackKey = "kMDItemGPSTrack"

  /// Image direction.
  public let NSMetadataItemImageDirectionKey = "kMDItemImageDirection"

  /// Named location.
  public let NSMetadataItemNamedLocationKey = "kMDItemNamedLocation"

  /// GPS status.
  public let NSMetadataItemGPSStatusKey = "kMDItemGPSStatus"

  /// GPS measure mode.
  public let NSMetadataItemGPSMeasureModeKey = "kMDItemGPSMeasureMode"

  /// GPS dilution of precision.
  public let NSMetadataItemGPSDOPKey = "kMDItemGPSDOP"

  /// GPS map datum.
  public let NSMetadataItemGPSMapDatumKey = "kMDItemGPSMapDatum"

  /// GPS destination latitude.
  public let NSMetadataItemGPSDestLatitudeKey = "kMDItemGPSDestLatitude"

  /// GPS destination longitude.
  public let NSMetadataItemGPSDestLongitudeKey = "kMDItemGPSDestLongitude"

  /// GPS destination bearing.
  public let NSMetadataItemGPSDestBearingKey = "kMDItemGPSDestBearing"

  /// GPS destination distance.
  public let NSMetadataItemGPSDestDistanceKey = "kMDItemGPSDestDistance"

  /// GPS processing method.
  public let NSMetadataItemGPSProcessingMethodKey = "kMDItemGPSProcessingMethod"

  /// GPS area information.
  public let NSMetadataItemGPSAreaInformationKey = "kMDItemGPSAreaInformation"

  /// GPS date stamp.
  public let NSMetadataItemGPSDateStampKey = "kMDItemGPSDateStamp"

  /// GPS differental.
  public let NSMetadataItemGPSDifferentalKey = "kMDItemGPSDifferental"

  // MARK: - Sound and film

  /// Codecs.
  public let NSMetadataItemCodecsKey = "kMDItemCodecs"

  /// Media types.
  public let NSMetadataItemMediaTypesKey = "kMDItemMediaTypes"

  /// Streamable.
  public let NSMetadataItemStreamableKey = "kMDItemStreamable"

  /// Total bit rate.
  public let NSMetadataItemTotalBitRateKey = "kMDItemTotalBitRate"

  /// Video bit rate.
  public let NSMetadataItemVideoBitRateKey = "kMDItemVideoBitRate"

  /// Audio bit rate.
  public let NSMetadataItemAudioBitRateKey = "kMDItemAudioBitRate"

  /// Delivery type.
  public let NSMetadataItemDeliveryTypeKey = "kMDItemDeliveryType"

  /// Album.
  public let NSMetadataItemAlbumKey = "kMDItemAlbum"

  /// Audio sample rate.
  public let NSMetadataItemAudioSampleRateKey = "kMDItemAudioSampleRate"

  /// Audio channel count.
  public let NSMetadataItemAudioChannelCountKey = "kMDItemAudioChannelCount"

  /// Tempo.
  public let NSMetadataItemTempoKey = "kMDItemTempo"

  /// Key signature.
  public let NSMetadataItemKeySignatureKey = "kMDItemKeySignature"

  /// Time signature.
  public let NSMetadataItemTimeSignatureKey = "kMDItemTimeSignature"

  /// Audio encoding application.
  public let NSMetadataItemAudioEncodingApplicationKey = "kMDItemAudioEncodingApplication"

  /// Composer.
  public let NSMetadataItemComposerKey = "kMDItemComposer"

  /// Lyricist.
  public let NSMetadataItemLyricistKey = "kMDItemLyricist"

  /// Audio track number.
  public let NSMetadataItemAudioTrackNumberKey = "kMDItemAudioTrackNumber"

  /// Recording date.
  public let NSMetadataItemRecordingDateKey = "kMDItemRecordingDate"

  /// Musical genre.
  public let NSMetadataItemMusicalGenreKey = "kMDItemMusicalGenre"

  /// Is general MIDI sequence.
  public let NSMetadataItemIsGeneralMIDISequenceKey = "kMDItemIsGeneralMIDISequence"

  /// Recording year.
  public let NSMetadataItemRecordingYearKey = "kMDItemRecordingYear"

  /// Apple loops root key.
  public let NSMetadataItemAppleLoopsRootKeyKey = "kMDItemAppleLoopsRootKey"

  /// Apple loops key filter type.
  public let NSMetadataItemAppleLoopsKeyFilterTypeKey = "kMDItemAppleLoopsKeyFilterType"

  /// Apple loops loop mode.
  public let NSMetadataItemAppleLoopsLoopModeKey = "kMDItemAppleLoopsLoopMode"

  /// Apple loop descriptors.
  public let NSMetadataItemAppleLoopDescriptorsKey = "kMDItemAppleLoopDescriptors"

  /// Musical instrument category.
  public let NSMetadataItemMusicalInstrumentCategoryKey = "kMDItemMusicalInstrumentCategory"

  /// Musical instrument name.
  public let NSMetadataItemMusicalInstrumentNameKey = "kMDItemMusicalInstrumentName"

  /// Director.
  public let NSMetadataItemDirectorKey = "kMDItemDirector"

  /// Producer.
  public let NSMetadataItemProducerKey = "kMDItemProducer"

  /// Genre.
  public let NSMetadataItemGenreKey = "kMDItemGenre"

  /// Performers.
  public let NSMetadataItemPerformersKey = "kMDItemPerformers"

  /// Original format.
  public let NSMetadataItemOriginalFormatKey = "kMDItemOriginalFormat"

  /// Original source.
  public let NSMetadataItemOriginalSourceKey = "kMDItemOriginalSource"
#endif
